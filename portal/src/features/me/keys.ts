export const meKeys = { me: ['me'] } as const;
