export interface PreviewCommand {
  readonly type: 'RecordPreview';
  readonly at: string;
  readonly previewId: string;
  readonly websiteId: string;
  /** ISO 8601 UTC. */
  readonly expiresAt: string;
}
