export const newWebsiteKeys = {
  templates: ['templates'],
  features: ['features'],
  clients: (words: string) => ['clients', 'choice', words],
  plan: (body: object) => ['newWebsite', 'plan', body],
} as const;
