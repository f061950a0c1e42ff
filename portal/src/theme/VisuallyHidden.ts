import '@mantine/core/styles/VisuallyHidden.layer.css';

export { VisuallyHidden } from '@mantine/core';
