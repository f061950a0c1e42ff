import '@mantine/core/styles/Checkbox.layer.css';

export { Checkbox } from '@mantine/core';
