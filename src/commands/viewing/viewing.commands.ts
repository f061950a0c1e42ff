export interface RecordViewing {
  readonly type: 'RecordViewing';
  readonly at: string;
  readonly viewingId: string;
  /** The address of whom the answer is for, encrypted. */
  readonly email: string;
  readonly path: string;
  readonly websiteId?: string | undefined;
}
