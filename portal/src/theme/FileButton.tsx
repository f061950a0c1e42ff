import { FileButton as MantineFileButton } from '@mantine/core';
import { useRef, type ComponentProps, type ReactNode } from 'react';

type FileButtonProps = Omit<ComponentProps<typeof MantineFileButton<true>>, 'multiple' | 'resetRef'>;

/** Chooses files. It forgets them at once: a browser says nothing of the same file chosen again. */
export const FileButton = ({ onChange, ...props }: FileButtonProps): ReactNode => {
  const reset = useRef<() => void>(null);
  return (
    <MantineFileButton
      {...props}
      multiple
      resetRef={reset}
      onChange={(files) => {
        onChange(files);
        reset.current?.();
      }}
    />
  );
};
