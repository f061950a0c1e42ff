import '@mantine/core/styles/Input.layer.css';

export { TextInput } from '@mantine/core';
