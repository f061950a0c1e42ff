/**
 * The demo's story: what happens when, in days before today and hours (UTC). Twelve websites end up
 * in twelve states; `test/demo` says which.
 */
import { DoorstepError } from '@doorstep/sdk';
import { photo, sheet } from './files.mjs';
import { people } from './people.mjs';

/**
 * @typedef {import('./make.mjs').Agency} Agency
 * @typedef {import('./people.mjs').Person} Person
 * @typedef {import('@doorstep/sdk').CheckpointInput} Checkpoint
 * @typedef {{ day: number, time: string, act: (agency: Agency) => Promise<unknown> }} Moment
 */

/** @param {number} day @param {string} time @param {Moment['act']} act @returns {Moment} */
const on = (day, time, act) => ({ day, time, act });

/** The default checkpoints, in their order. */
const steps = ['kickoff', 'design-approved', 'initial-deploy', 'content-loaded', 'qa', 'launch'];

/**
 * Adds a client, and when that is an invitation, waits until its mail has left, so that it does on its day.
 * @param {Agency} agency @param {string} slug @param {Person} person @param {'viewer' | 'editor'} role
 */
const invite = async ({ operator, id, mailed }, slug, { email }, role) => {
  const added = await operator.websites.clients.add(id(slug), { email, role });
  if ('invitation' in added) await mailed(added.invitation.id);
};

/** Offers the website, and waits until the mail has left. @param {Agency} agency @param {string} slug @param {Person} person */
const offer = async ({ operator, id, mailed }, slug, { email }) => {
  const offered = await operator.websites.transfers.offer(id(slug), { email, sendEmail: true });
  await mailed(offered.id);
};

/** The invited accepts what is open. @param {Agency} agency @param {Person} person */
const accept = async ({ as }, person) => {
  const client = await as(person);
  const { invitations } = await client.me.get();
  for (const { id } of invitations) await client.invitations.claim(id);
};

/** @param {Agency} agency @param {Person} person @returns {Promise<string>} */
const register = async ({ operator }, { email, name }) => (await operator.clients.create({ email, name })).id;

/** @param {Agency} agency @param {string} slug @param {Person} person */
const look = async ({ as, id }, slug, person) => {
  const client = await as(person);
  const { revision } = await client.websites.delivery.get(id(slug));
  await client.websites.delivery.markSeen(id(slug), revision);
};

/**
 * Sets the delivery up, or changes it: what is left out stays.
 * @param {Agency} agency
 * @param {string} slug
 * @param {{ readyOn?: number, preview?: boolean, due?: Record<string, number>, needed?: Record<string, string>, reason?: string }} change
 */
const plan = async ({ operator, id, noon }, slug, { readyOn, preview, due = {}, needed = {}, reason }) => {
  const { delivery } = operator.websites;
  const block = await delivery.get(id(slug));
  await delivery.replace(id(slug), {
    estimatedCompletionAt: readyOn === undefined ? block.estimatedCompletionAt : noon(readyOn),
    showPreviewUrl: preview ?? block.showPreviewUrl,
    checkpoints: block.checkpoints.map((checkpoint) => ({
      ...checkpoint,
      ...(due[checkpoint.id] !== undefined && { dueAt: noon(due[checkpoint.id] ?? 0) }),
      ...(needed[checkpoint.id] !== undefined && { neededFromClient: needed[checkpoint.id] ?? '' }),
    })),
    ...(reason !== undefined && { reason, reasonVisible: true }),
  });
};

/**
 * Moments in which the checkpoints are done one after the other, each begun when the one before is
 * done.
 * @param {string} slug
 * @param {readonly number[]} days - when the first ones are done
 * @param {boolean} [goesOn] - whether the next one is begun
 */
const progress = (slug, days, goesOn = days.length < steps.length) =>
  days.flatMap((day, index) => [
    on(day, '15:10', ({ operator, id }) => operator.websites.delivery.setCheckpointStatus(id(slug), steps[index] ?? '', 'done')),
    ...(index + 1 < days.length || goesOn
      ? [
          on(day, '15:20', ({ operator, id }) =>
            operator.websites.delivery.setCheckpointStatus(id(slug), steps[index + 1] ?? '', 'in_progress'),
          ),
        ]
      : []),
  ]);

/** @param {string} slug @param {number} readyOn @returns {Moment['act']} */
const setUp =
  (slug, readyOn) =>
  async ({ operator, id, noon }) => {
    await operator.websites.delivery.replace(id(slug), { estimatedCompletionAt: noon(readyOn), showPreviewUrl: false });
    await operator.websites.delivery.setCheckpointStatus(id(slug), 'kickoff', 'in_progress');
  };

/**
 * Saves the company's own words and publishes them.
 * @param {Agency} agency @param {string} slug @param {Record<string, unknown>} words @param {Person} [author]
 */
const publish = async (agency, slug, words, author) => {
  const { operator, id, until } = agency;
  await write(agency, slug, words, author);
  const { id: deploymentId } = await operator.websites.content.publish(id(slug));
  await until(`${slug} shows what was published`, async () => {
    const deployments = await operator.websites.deployments.list(id(slug));
    return deployments.some((one) => one.id === deploymentId && one.status === 'ready');
  });
};

/** @param {Agency} agency @param {string} slug @param {Record<string, unknown>} words @param {Person} [author] */
const write = async ({ operator, as, id }, slug, words, author) => {
  const caller = author === undefined ? operator : await as(author);
  const { hash, body } = await caller.websites.content.get(id(slug), 'company');
  await caller.websites.content.save(id(slug), 'company', {
    baseHash: hash,
    body: { .../** @type {object} */ (body), ...words },
  });
};

/** Visitors of the last weeks: more at weekends, more for the older sites. @param {string} slug @param {number} most */
const visits = (slug, most) =>
  Array.from({ length: 28 }, (_, index) =>
    on(index - 28, '18:00', async ({ visit }) => {
      const visitors = 1 + ((index * 7 + slug.length) % most);
      for (let visitor = 0; visitor < visitors; visitor += 1) {
        const from = ['https://search.example/', undefined, 'https://maps.example/'][(index + visitor) % 3];
        await visit(slug, '', 20 + visitor, from);
        if (visitor % 2 === 0) await visit(slug, ['contact/', 'services/', 'about/'][(index + visitor) % 3] ?? '', 20 + visitor);
      }
    }),
  );

/** Waits for its client: what is missing stands at the step, and the date has moved for it. */
const cornerBakery = [
  on(-38, '09:05', async (agency) => {
    const clientId = await register(agency, people.anna);
    await agency.create({
      name: 'Corner Bakery',
      slug: 'corner-bakery',
      tier: 'growth',
      brandColor: '#7a4b2a',
      clientId,
      collaborators: ['leila-haddad'],
    });
  }),
  on(-38, '10:30', setUp('corner-bakery', 23)),
  on(-37, '09:00', (agency) => invite(agency, 'corner-bakery', people.tomas, 'viewer')),
  on(-37, '17:45', (agency) => accept(agency, people.tomas)),
  on(-36, '09:10', (agency) => invite(agency, 'corner-bakery', people.leila, 'editor')),
  on(-36, '12:20', (agency) => accept(agency, people.leila)),
  on(-35, '11:00', ({ operator, id }) =>
    operator.websites.documents.upload(id('corner-bakery'), {
      file: sheet('Offer', ['Website for Corner Bakery', 'Six steps, one price.']),
      name: 'Offer.pdf',
    }),
  ),
  on(-30, '16:00', ({ operator, id }) =>
    operator.websites.documents.upload(id('corner-bakery'), {
      file: sheet('Photo guide', ['Daylight, no flash.', 'Three pictures are enough.']),
      name: 'Photo guide.pdf',
    }),
  ),
  ...progress('corner-bakery', [-33, -18, -16]),
  on(-16, '15:30', (agency) => plan(agency, 'corner-bakery', { preview: true })),
  on(-15, '19:40', (agency) => look(agency, 'corner-bakery', people.anna)),
  on(-15, '20:05', (agency) => look(agency, 'corner-bakery', people.tomas)),
  on(-12, '10:00', (agency) =>
    plan(agency, 'corner-bakery', {
      readyOn: 30,
      due: { 'content-loaded': 6, qa: 18 },
      needed: { 'content-loaded': 'Opening hours, three photos' },
      reason: 'The photos come a week later.',
    }),
  ),
  on(-11, '18:30', (agency) => look(agency, 'corner-bakery', people.anna)),
  on(-9, '14:00', async (agency) => {
    const { id } = await (
      await agency.as(people.leila)
    ).websites.media.upload(agency.id('corner-bakery'), {
      file: await photo('#7a4b2a', '#e9c46a'),
      name: 'Loaves.jpg',
      alt: 'Loaves on a wooden shelf',
    });
    await publish(
      agency,
      'corner-bakery',
      { tagline: 'Bread from four in the morning.', picture: { mediaId: id } },
      people.leila,
    );
  }),
  on(-2, '16:20', (agency) =>
    write(agency, 'corner-bakery', { address: ['12 Mill Lane', 'Ashford'], email: 'hello@corner-bakery.example' }, people.leila),
  ),
  on(-1, '10:00', ({ operator, id }) => operator.websites.delivery.get(id('corner-bakery'), {}, { as: people.anna.email })),
];

/** Its repository cannot be made: that of an earlier website of the name was kept. */
const harbourCafe = [
  on(-90, '09:00', async (agency) => {
    const clientId = await register(agency, people.nikos);
    await agency.create({ name: 'Harbour Café', slug: 'harbour-cafe', clientId });
  }),
  on(-80, '11:00', ({ operator, id }) => operator.websites.archive(id('harbour-cafe'))),
  on(-76, '11:05', ({ operator, id }) =>
    operator.websites.delete(id('harbour-cafe'), { confirm: 'harbour-cafe', keep: 'repository' }),
  ),
  on(-45, '03:00', async ({ operator, restart, until }) => {
    await restart();
    const slug = 'harbour-cafe';
    await until('the slug of the deleted website is free', async () => {
      try {
        await operator.websites.create({ name: 'Harbour Café', slug }, { dryRun: true });
        return true;
      } catch (error) {
        if (error instanceof DoorstepError && error.code === 'slug_taken') return false;
        throw error;
      }
    });
  }),
  on(-1, '14:00', ({ create }) => create({ name: 'Harbour Café', slug: 'harbour-cafe', brandColor: '#1d4ed8' })),
];

/** Delivered, and in use: visitors, scans, invoices, a domain. */
const duarteDental = [
  on(-92, '08:30', async (agency) => {
    await register(agency, people.mateus);
    await agency.create({ name: 'Duarte Dental', slug: 'duarte-dental', tier: 'growth', brandColor: '#0e7490' });
  }),
  on(-92, '09:00', setUp('duarte-dental', -60)),
  ...progress('duarte-dental', [-88, -80, -79, -70, -66, -62]),
  on(-84, '10:00', (agency) => plan(agency, 'duarte-dental', { due: { 'design-approved': -80, 'content-loaded': -70 } })),
  on(-72, '13:00', (agency) =>
    publish(agency, 'duarte-dental', {
      tagline: 'Calm dentistry, on time.',
      email: 'praxis@duarte-dental.example',
      address: ['4 Rua das Flores', 'Porto'],
    }),
  ),
  on(-61, '09:00', (agency) => offer(agency, 'duarte-dental', people.mateus)),
  on(-60, '20:00', (agency) => accept(agency, people.mateus)),
  on(-59, '09:00', async ({ operator, id }) => {
    await operator.websites.domains.add(id('duarte-dental'), 'www.duarte-dental.example');
  }),
  ...[-58, -30, -3].map((day) =>
    on(day, '08:00', async ({ operator, id, noon }) => {
      const { invoices } = operator.websites;
      const { id: invoiceId } = await invoices.create(id('duarte-dental'), {
        total: day === -58 ? 240_000 : 4_900,
        currency: 'eur',
        description: day === -58 ? 'Website, as offered' : 'Care, one month',
        dueAt: noon(day + 14),
      });
      if (day < -14) await invoices.pay(id('duarte-dental'), invoiceId);
    }),
  ),
  on(-20, '04:00', async ({ operator, id, until }) => {
    const scan = await operator.websites.seo.scan(id('duarte-dental'));
    await until('the scan has ended', async () => {
      const { latest } = await operator.websites.seo.get(id('duarte-dental'));
      return latest?.id === scan.id && ['completed', 'failed'].includes(latest.status);
    });
  }),
  on(-4, '10:00', ({ operator, id, noon }) =>
    operator.websites.bookings.add(id('duarte-dental'), {
      title: 'Yearly review',
      start: noon(7),
      end: new Date(Date.parse(noon(7)) + 3_600_000).toISOString(),
      location: 'By telephone',
    }),
  ),
  ...visits('duarte-dental', 6),
];

/** Late: its date has passed, and so has that of its open step. */
const okaforArchitects = [
  on(-55, '09:00', async (agency) => {
    const clientId = await register(agency, people.chidi);
    await agency.create({
      name: 'Okafor Architects',
      slug: 'okafor-architects',
      templateId: 'landing',
      brandColor: '#334155',
      clientId,
    });
  }),
  on(-55, '09:30', setUp('okafor-architects', -5)),
  ...progress('okafor-architects', [-50, -30, -29, -14]),
  on(-29, '16:00', (agency) => plan(agency, 'okafor-architects', { preview: true, due: { qa: -8 } })),
  on(-28, '07:50', (agency) => look(agency, 'okafor-architects', people.chidi)),
  on(-6, '21:15', (agency) => look(agency, 'okafor-architects', people.chidi)),
];

/** Its clients edit: pictures, texts, a newsletter; what is saved last is not published. */
const tanakaCeramics = [
  on(-70, '09:00', async (agency) => {
    const clientId = await register(agency, people.yuki);
    await agency.create({ name: 'Tanaka Ceramics', slug: 'tanaka-ceramics', tier: 'scale', brandColor: '#5b6c5d', clientId });
  }),
  on(-70, '09:30', setUp('tanaka-ceramics', -40)),
  ...progress('tanaka-ceramics', [-66, -58, -57, -48, -44, -41]),
  on(-60, '08:00', (agency) => invite(agency, 'tanaka-ceramics', people.leila, 'editor')),
  on(-60, '18:00', (agency) => accept(agency, people.leila)),
  on(-50, '12:00', async (agency) => {
    const yuki = await agency.as(people.yuki);
    const { id } = await yuki.websites.media.upload(agency.id('tanaka-ceramics'), {
      file: await photo('#5b6c5d', '#d9cfc1'),
      name: 'Bowls.jpg',
      alt: 'Three bowls with an ash glaze',
    });
    await publish(agency, 'tanaka-ceramics', { tagline: 'Bowls for every day.', picture: { mediaId: id } }, people.yuki);
  }),
  on(-33, '17:00', async ({ as, id }) => {
    const leila = await as(people.leila);
    await leila.websites.marketing.save(id('tanaka-ceramics'), 'spring-letter', {
      baseHash: null,
      body: { subject: 'The kiln is open again', text: 'New bowls and cups from the first firing of the year.' },
    });
  }),
  on(-3, '11:30', (agency) => write(agency, 'tanaka-ceramics', { tagline: 'Bowls and cups for every day.' }, people.leila)),
  ...visits('tanaka-ceramics', 4),
];

/** Archived: the shop has closed. */
const rossiBikes = [
  on(-85, '09:00', async (agency) => {
    const clientId = await register(agency, people.giulia);
    await agency.create({ name: 'Rossi Bikes', slug: 'rossi-bikes', brandColor: '#b91c1c', clientId });
  }),
  on(-85, '09:30', setUp('rossi-bikes', -57)),
  ...progress('rossi-bikes', [-82, -74, -73, -65, -60, -58]),
  on(-10, '10:00', ({ operator, id }) => operator.websites.archive(id('rossi-bikes'))),
];

/** To be deleted in nine days, unless somebody restores it. */
const sunriseYoga = [
  on(-88, '09:00', async (agency) => {
    const clientId = await register(agency, people.amara);
    await agency.create({ name: 'Sunrise Yoga', slug: 'sunrise-yoga', templateId: 'landing', brandColor: '#c2410c', clientId });
  }),
  on(-88, '09:30', setUp('sunrise-yoga', -63)),
  ...progress('sunrise-yoga', [-84, -77, -76, -70, -67, -64]),
  on(-25, '10:00', ({ operator, id }) => operator.websites.archive(id('sunrise-yoga'))),
  on(-21, '10:05', ({ operator, id }) => operator.websites.delete(id('sunrise-yoga'), { confirm: 'sunrise-yoga' })),
];

/** Done, and offered to the client, who has not yet accepted to take it over. */
const mehtaTax = [
  on(-45, '09:00', ({ create }) =>
    create({ name: 'Mehta Tax Advice', slug: 'mehta-tax', tier: 'growth', brandColor: '#3730a3' }),
  ),
  on(-45, '09:30', setUp('mehta-tax', -6)),
  ...progress('mehta-tax', [-41, -31, -30, -20, -11, -7]),
  on(-40, '08:30', (agency) => invite(agency, 'mehta-tax', people.priya, 'viewer')),
  on(-39, '13:00', (agency) => accept(agency, people.priya)),
  on(-4, '09:15', (agency) => offer(agency, 'mehta-tax', people.priya)),
];

/** Invitations: one waits, one has lapsed. */
const cafeOndine = [
  on(-40, '10:00', ({ create }) => create({ name: 'Café Ondine', slug: 'cafe-ondine', brandColor: '#0f766e' })),
  on(-40, '10:30', setUp('cafe-ondine', 12)),
  on(-39, '09:00', (agency) => invite(agency, 'cafe-ondine', people.odile, 'editor')),
  ...progress('cafe-ondine', [-35, -22]),
  on(-8, '09:00', (agency) =>
    plan(agency, 'cafe-ondine', { needed: { 'content-loaded': 'The menu' }, due: { 'content-loaded': 4 } }),
  ),
  on(-2, '09:00', (agency) => invite(agency, 'cafe-ondine', people.samir, 'viewer')),
];

/** On its way, with the preview hidden, a step of its own and a change that was undone. */
const greenValleyVet = [
  on(-24, '09:00', async (agency) => {
    const clientId = await register(agency, people.wen);
    await agency.create({ name: 'Green Valley Vet', slug: 'green-valley-vet', brandColor: '#3f6212', clientId });
  }),
  on(-24, '09:30', setUp('green-valley-vet', 14)),
  ...progress('green-valley-vet', [-21, -9, -8]),
  on(-20, '11:00', async ({ operator, id, noon }) => {
    const { delivery } = operator.websites;
    const block = await delivery.get(id('green-valley-vet'));
    await delivery.replace(id('green-valley-vet'), {
      estimatedCompletionAt: block.estimatedCompletionAt,
      showPreviewUrl: false,
      checkpoints: [
        ...block.checkpoints,
        { id: 'booking-form', label: 'Booking form', order: 45, status: 'pending', dueAt: noon(5) },
      ],
    });
  }),
  on(-6, '10:00', (agency) => plan(agency, 'green-valley-vet', { readyOn: 21, reason: 'The booking form takes longer.' })),
  on(-6, '10:20', async ({ operator, id }) => {
    const { delivery } = operator.websites;
    const { revision } = await delivery.get(id('green-valley-vet'));
    await delivery.undo(id('green-valley-vet'), revision);
  }),
  on(-5, '19:00', (agency) => look(agency, 'green-valley-vet', people.wen)),
];

/** Built, and its delivery not yet set up. */
const brassAndOak = [
  on(-1, '09:00', ({ create }) => create({ name: 'Brass & Oak Joinery', slug: 'brass-and-oak', brandColor: '#92400e' })),
  on(-1, '09:20', (agency) => invite(agency, 'brass-and-oak', people.jonas, 'editor')),
  on(-1, '12:45', (agency) => accept(agency, people.jonas)),
];

/** Created just now: the ordinary service begins with building it. */
const fjordKayaks = [
  on(0, '23:59', async (agency) => {
    const clientId = await register(agency, people.ingrid);
    await agency.restart('api,projector');
    await agency.begin({ name: 'Fjord Kayaks', slug: 'fjord-kayaks', tier: 'growth', brandColor: '#0369a1', clientId });
  }),
];

/** @type {readonly Moment[]} */
export const story = [
  ...cornerBakery,
  ...harbourCafe,
  ...duarteDental,
  ...okaforArchitects,
  ...tanakaCeramics,
  ...rossiBikes,
  ...sunriseYoga,
  ...mehtaTax,
  ...cafeOndine,
  ...greenValleyVet,
  ...brassAndOak,
  ...fjordKayaks,
];
