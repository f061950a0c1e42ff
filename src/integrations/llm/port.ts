/** A language model that answers questions. */
export interface LlmGateway {
  readonly provider: string;
  /**
   * Answers one question, knowing nothing of any other. May throw ProviderFault
   * (`integrations/fault.ts`).
   */
  ask(question: LlmQuestion): Promise<string>;
}

export interface LlmQuestion {
  /** How to answer. */
  readonly instructions: string;
  readonly question: string;
}
