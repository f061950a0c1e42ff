import '@mantine/core/styles/Progress.layer.css';

export { Progress } from '@mantine/core';
