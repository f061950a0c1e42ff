import '@mantine/core/styles/UnstyledButton.layer.css';
import '@mantine/core/styles/FloatingIndicator.layer.css';
import '@mantine/core/styles/SegmentedControl.layer.css';

export { SegmentedControl } from '@mantine/core';
