import { BufferTarget, EncodedPacket, EncodedVideoPacketSource, Mp4OutputFormat, Output, WebMOutputFormat } from 'mediabunny';
import sharp, { type Sharp } from 'sharp';

/** A picture of any size in soft colours, as photographs are. */
export const picture = (width: number, height: number): Sharp => {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0, index = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      pixels[index++] = (x * 255) / width;
      pixels[index++] = (y * 255) / height;
      pixels[index++] = ((x ^ y) & 15) * 8;
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
};

/** As phones make them: lying on its side, with the place where it was taken. */
export const photograph = (width: number, height: number): Promise<Buffer> =>
  picture(width, height)
    .withExif({
      IFD0: { Make: 'CanaryCamera' },
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '48/1 8/1 0/1', GPSLongitudeRef: 'E', GPSLongitude: '11/1 34/1 0/1' },
    })
    .withMetadata({ orientation: 6 })
    .jpeg()
    .toBuffer();

/** Its frames differ: equal ones would become one. @param alpha how opaque it is. Default: fully */
const moving = async (width: number, height: number, frames: number, alpha = 1): Promise<Sharp> => {
  const page = (frame: number): Promise<Buffer> => {
    const background = { r: (frame * 80) % 256, g: 90, b: (frame * 50) % 256, alpha };
    return sharp({ create: { width, height, channels: alpha < 1 ? 4 : 3, background } })
      .png()
      .toBuffer();
  };
  const pages = await Promise.all(Array.from({ length: frames }, (_, frame) => page(frame)));
  return sharp(pages, { join: { animated: true } });
};

export const animation = async (width: number, height: number, frames: number): Promise<Buffer> =>
  (await moving(width, height, frames)).gif({ effort: 1 }).toBuffer();

export const animatedWebp = async (width: number, height: number, frames: number, alpha?: number): Promise<Buffer> =>
  (await moving(width, height, frames, alpha)).webp({ effort: 0 }).toBuffer();

/** A video of half a second whose frames hold nothing. */
export const video = async (kind: 'mp4' | 'webm', width: number, height: number, rotation: 0 | 90 = 0): Promise<Buffer> => {
  const target = new BufferTarget();
  const output = new Output({ format: kind === 'mp4' ? new Mp4OutputFormat() : new WebMOutputFormat(), target });
  const source = new EncodedVideoPacketSource('vp9');
  output.addVideoTrack(source, { frameRate: 10, ...(kind === 'mp4' && { rotation }) });
  await output.start();
  for (let frame = 0; frame < 5; frame += 1) {
    const packet = new EncodedPacket(new Uint8Array([0x82, 0x49, 0x83, 0x42, 0]), frame === 0 ? 'key' : 'delta', frame / 10, 0.1);
    await source.add(packet, { decoderConfig: { codec: 'vp09.00.10.08', codedWidth: width, codedHeight: height } });
  }
  await output.finalize();
  return Buffer.from(target.buffer ?? new ArrayBuffer(0));
};
