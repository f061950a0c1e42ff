/** What may go wrong beside refusals, each with its status. */
export const faultStatus = {
  method_not_allowed: 405,
  request_timeout: 408,
  body_too_large: 413,
  too_many_requests: 429,
  internal_error: 500,
  git_not_installed: 501,
  provider_refused: 502,
  provider_timeout: 504,
  provider_unavailable: 503,
  busy: 503,
  still_running: 503,
  transfer_under_way: 503,
  webhooks_not_configured: 503,
  not_ready: 503,
  storage_full: 503,
  event_store_unavailable: 503,
  stopping: 503,
  outcome_unknown: 503,
  too_many_conflicts: 503,
  read_models_unavailable: 503,
  list_behind: 503,
  read_models_exchanged: 503,
  identity_provider_unavailable: 503,
  vault_locked: 503,
} as const;

export type FaultCode = keyof typeof faultStatus;
