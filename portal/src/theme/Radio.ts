import '@mantine/core/styles/Radio.layer.css';

export { Radio } from '@mantine/core';
