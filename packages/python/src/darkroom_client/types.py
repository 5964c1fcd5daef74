"""The shapes of requests and answers. Generated from openapi.json by `npm run schema`; do not edit."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union


ApiKeyScope = Literal["generations:write", "tasks:read", "tasks:cancel", "webhooks:manage", "keys:manage", "operations:read", "operations:manage"]
AuditAction = Literal["api_key.created", "api_key.updated", "api_key.rotated", "api_key.revoked", "api_key.erased", "process.drain_requested", "process.drained", "process.resumed", "pause.created", "pause.ended", "tasks.cancelled", "tasks.released", "tasks.failed", "circuit.reset", "webhook_replay.created", "webhook_replay.cancelled", "log_levels.set", "task.kept", "task.unkept", "share.created", "share.deleted"]
AuditActorType = Literal["api_key", "command_line", "service"]
AuditTargetType = Literal["api_key", "process", "pause", "task", "tasks", "provider_place", "webhook_replay", "log_levels", "share"]
BatchOnInvalid = Literal["refuse", "skip"]
BatchResultStatus = Literal["succeeded", "failed"]
BatchStatus = Literal["in_progress", "cancelling", "completed", "cancelled"]
BudgetPeriod = Literal["day", "month", "total"]
CostBasis = Literal["priced", "reported", "free", "assumed", "unpriced"]
DeliveryOutcome = Literal["delivered", "failed", "waiting"]
ErasureOutOfReach = Literal["providers", "webhook_receivers", "backups", "bucket_versions", "logs", "database_space"]
ErasureStatus = Literal["running", "completed"]
ExpiryAnchor = Literal["created_at"]
FileOrder = Literal["asc", "desc"]
FilePurpose = Literal["vision", "user_data", "batch", "output", "batch_output"]
FileStatus = Literal["pending", "processed"]
LogLevel = Literal["fatal", "error", "warn", "info", "debug", "trace", "silent"]
MediaKind = Literal["image", "video"]
ModelHealthStatus = Literal["operational", "degraded", "unavailable"]
ModelSizes = Literal["table", "pixels", "both"]
ModelStatus = Literal["active", "deprecated", "retired"]
ObjectiveName = Literal["requests", "creates", "reads", "queue", "tasks", "webhooks", "bus"]
ObjectiveState = Literal["quiet", "met", "burning", "burning_fast"]
OpenaiVideoStatus = Literal["queued", "in_progress", "completed", "failed"]
OperatorTaskState = Literal["waiting", "parked", "paused", "running", "stuck"]
OperatorTaskWait = Literal["worker", "key_limit", "pause"]
PauseKind = Literal["model", "provider", "place"]
PriceUnit = Literal["task", "image", "second", "million_input_tokens", "million_output_tokens"]
ProcessRole = Literal["all", "api", "worker"]
ProcessState = Literal["live", "late", "draining", "drained", "lost"]
TaskErrorCode = Literal["task_cancelled", "content_policy_violation", "reference_image_fetch_failed", "reference_image_invalid", "provider_rejected", "provider_unavailable", "provider_timeout", "provider_outcome_unknown", "provider_no_result", "provider_quota_exceeded", "task_deadline_exceeded", "worker_lost", "result_storage_failed", "internal_error"]
TaskMomentType = Literal["queued", "held", "released", "started", "references_ready", "submitting", "accepted", "refused", "worker_lost", "taken_over", "storing", "succeeded", "failed", "cancel_requested"]
TaskOrder = Literal["asc", "desc"]
TaskPriority = Literal["normal", "low"]
TaskRelation = Literal["retry", "variation", "remix"]
TaskSource = Literal["api", "openai", "gemini", "mcp", "batch"]
TaskStatus = Literal["queued", "running", "succeeded", "failed"]
TaskStuckReason = Literal["over_time", "lease_lapsed", "parked_without_reason", "dispatch_untaken"]
UploadPurpose = Literal["vision", "user_data", "batch"]
WaitingFor = Literal["worker", "key_limit", "provider_limit", "pause"]
WebhookDeliveryError = Literal["blocked_address", "dns_failure", "connect_failed", "tls_error", "timeout", "http_status"]
WebhookDeliveryEventType = Literal["task.completed", "task.failed", "batch.completed", "budget.threshold_reached", "budget.exceeded", "webhook.test"]
WebhookDeliveryTrigger = Literal["scheduled", "manual", "test"]
WebhookDisabledReason = Literal["gone", "failing"]
WebhookEndpointStatus = Literal["enabled", "disabled"]
WebhookEventType = Literal["task.completed", "task.failed", "batch.completed", "budget.threshold_reached", "budget.exceeded"]
WebhookReplayEvents = Literal["failed", "all"]
WebhookReplayStatus = Literal["running", "completed", "cancelled"]
ErrorCode = Literal["invalid_json", "invalid_body", "missing_required_parameter", "invalid_type", "invalid_value", "value_out_of_range", "string_too_long", "too_many_items", "invalid_unicode", "unsupported_parameter", "unknown_parameter", "model_not_found", "invalid_url", "url_not_allowed", "invalid_idempotency_key", "duplicate_key", "json_too_deep", "invalid_multipart", "invalid_image", "invalid_file", "batch_invalid", "bad_request", "request_timeout", "missing_api_key", "invalid_api_key", "api_key_revoked", "api_key_expired", "session_expired", "invalid_sign_in_code", "budget_exceeded", "insufficient_scope", "origin_not_allowed", "model_not_allowed", "invalid_signature", "file_quota_exceeded", "kept_quota_exceeded", "task_not_found", "api_key_not_found", "erasure_not_found", "webhook_endpoint_not_found", "webhook_event_not_found", "session_not_found", "file_not_found", "share_not_found", "batch_not_found", "process_not_found", "pause_not_found", "place_not_found", "webhook_replay_not_found", "route_not_found", "method_not_allowed", "file_expired", "share_ended", "payload_too_large", "unsupported_media_type", "range_not_satisfiable", "headers_too_large", "upload_incomplete", "idempotency_in_progress", "idempotency_key_reused", "rate_limit_exceeded", "queue_full", "variant_not_available", "task_unfinished", "task_not_running", "result_not_ready", "content_policy_violation", "reference_image_fetch_failed", "reference_image_invalid", "provider_rejected", "task_cancelled", "worker_lost", "result_storage_failed", "provider_timeout", "provider_outcome_unknown", "provider_no_result", "provider_unavailable", "provider_quota_exceeded", "task_deadline_exceeded", "generation_timeout", "internal_error", "service_unavailable"]
ErrorType = Literal["invalid_request_error", "not_found_error", "authentication_error", "budget_error", "permission_error", "idempotency_error", "rate_limit_error", "server_error"]

class About(TypedDict):
    object: Literal["about"]
    """always \"about\""""
    version: str
    """version of the program"""
    server_time: float
    """unix seconds with milliseconds, to correct the clock of a client"""
    public_url: str
    """base of all links"""
    task_retention_days: float
    """days after which a final task is deleted"""
    file_retention_days: float
    """days after which the files of a task are deleted"""
    file_url_ttl_s: int
    """seconds that a signed link works"""
    max_upload_bytes: int
    """most bytes of an uploaded image"""
    webhook_schedule_s: list[float]
    """seconds between the attempts to deliver a webhook"""
    graphiql: bool
    """whether /graphiql is served"""


class _ApiKeyRequired(TypedDict):
    id: str
    """identifier"""
    object: Literal["api_key"]
    """always \"api_key\""""
    name: str
    """a name for people"""
    scopes: list[ApiKeyScope]
    """what the key may do"""
    limits: ApiKeyLimits
    """the effective limits"""
    models: list[str] | None
    """ids of the models that it may use, exact or ending in *; null: every open one"""
    budget_status: BudgetStatus | None
    """how much of the budget is used; null without one"""
    hint: str
    """the first and last characters of the current secret, to recognise it"""
    created_at: int
    """unix seconds"""
    created_by: str | None
    """the API key that created it. null: it was created without a key, or by an earlier release"""
    expires_at: int | None
    """unix seconds; null: never"""
    last_used_at: int | None
    """unix seconds, accurate to about a minute; null: not used yet"""


class ApiKey(_ApiKeyRequired, total=False):
    key: str
    """the key itself; only in the response to creation or rotation"""


class ApiKeyLimitChangesInput(TypedDict, total=False):
    creates_per_minute: int | None
    """generations that may be created in a minute. 0: no limit. null: the limit of the configuration"""
    reads_per_minute: int | None
    """other requests that may be made in a minute. 0: no limit. null: the limit of the configuration"""
    max_running: int | None
    """tasks that may run at once. 0: no limit. null: the limit of the configuration"""
    max_queued: int | None
    """tasks that may be queued at once. 0: no limit. null: the limit of the configuration"""
    max_file_bytes: int | None
    """bytes of uploads that may be stored at once. 0: no limit. null: the limit of the configuration"""
    max_request_file_bytes: int | None
    """bytes of files inside requests that may be stored at once. 0: no limit. null: the limit of the configuration"""
    max_kept_bytes: int | None
    """bytes of outputs that may be kept at once. 0: no limit. null: the limit of the configuration"""
    weight: int | None
    """share of worker time while several keys wait: twice the weight, twice the time. null: 10"""
    task_retention_days: float | None
    """days from its creation for which the record of a new task is kept. null: as configured"""
    file_retention_days: float | None
    """days from its end for which the files of a new task are kept. null: as configured"""
    budget: BudgetInput | None
    """what its tasks may cost; replaces the earlier budget. null: no budget"""


class ApiKeyLimits(TypedDict):
    creates_per_minute: int
    """generations that may be created in a minute; 0: no limit"""
    reads_per_minute: int
    """other requests that may be made in a minute; 0: no limit"""
    max_running: int
    """tasks that may run at once, further tasks wait; 0: no limit"""
    max_queued: int
    """tasks that may be queued at once, further tasks are rejected; 0: no limit"""
    max_file_bytes: int
    """bytes of uploads that may be stored at once, further uploads are rejected; 0: no limit"""
    max_request_file_bytes: int
    """bytes of files inside requests that may be stored at once, further ones are rejected; 0: no limit"""
    max_kept_bytes: int
    """bytes of outputs that may be kept at once, further ones are rejected; 0: no limit"""
    weight: int
    """share of worker time while several keys wait: twice the weight, twice the time"""
    task_retention_days: float
    """days from its creation for which the record of a task is kept"""
    file_retention_days: float
    """days from its end for which the files of a task are kept"""
    budget: Budget | None
    """what its tasks may cost; null: no bound"""


class ApiKeyLimitsInput(TypedDict, total=False):
    creates_per_minute: int
    """generations that may be created in a minute; 0: no limit"""
    reads_per_minute: int
    """other requests that may be made in a minute; 0: no limit"""
    max_running: int
    """tasks that may run at once, further tasks wait; 0: no limit"""
    max_queued: int
    """tasks that may be queued at once, further tasks are rejected; 0: no limit"""
    max_file_bytes: int
    """bytes of uploads that may be stored at once, further uploads are rejected; 0: no limit"""
    max_request_file_bytes: int
    """bytes of files inside requests that may be stored at once, further ones are rejected; 0: no limit"""
    max_kept_bytes: int
    """bytes of outputs that may be kept at once, further ones are rejected; 0: no limit"""
    weight: int
    """share of worker time while several keys wait: twice the weight, twice the time; 10 when left out"""
    task_retention_days: float
    """days from its creation for which the record of a task is kept; at most those of the configuration"""
    file_retention_days: float
    """days from its end for which the files of a task are kept; at most those of the configuration"""
    budget: BudgetInput
    """what its tasks may cost; without it there is no bound"""


class ApiKeyList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[ApiKey]
    """newest first"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class Archive(TypedDict):
    object: Literal["archive"]
    """always \"archive\""""
    url: str
    """signed link to the zip, which works without the API key"""
    expires_at: int
    """unix seconds; the link works until then"""
    bytes: int
    """size of the zip in bytes"""


class AuditEvent(TypedDict):
    id: str
    """identifier"""
    object: Literal["audit_event"]
    """always \"audit_event\""""
    created_at: int
    """unix seconds"""
    action: AuditAction
    """what was done"""
    actor_type: AuditActorType
    """who did it: an API key, the command line, or the service at its start"""
    actor_id: str | None
    """the acting API key; null for the others"""
    target_type: AuditTargetType
    """what was changed"""
    target_id: str
    """its id; `filter` for an act on several tasks; for a place of a provider, its number"""
    ip: str | None
    """address of the client; null without a request"""
    request_id: str | None
    """the `x-request-id` of the request; null without one"""
    session_id: str | None
    """the session of the browser that asked; null when no browser was signed in"""
    user_agent: str | None
    """the name that this browser gave itself (`User-Agent`); null without one"""
    before: dict[str, Any] | None
    """the target before the act; null if it is new"""
    after: dict[str, Any] | None
    """what the act set"""


class AuditEventList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[AuditEvent]
    """newest first"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class _BatchRequired(TypedDict):
    id: str
    """identifier"""
    object: Literal["batch"]
    """always \"batch\""""
    endpoint: str
    """the route whose bodies the items are"""
    status: BatchStatus
    """`completed`: every item is final, whether it succeeded or not"""
    progress: int
    """percent of the items that are final; never falls"""
    created_at: int
    """unix seconds"""
    in_progress_at: int | None
    """unix seconds"""
    completed_at: int | None
    """unix seconds; null unless completed"""
    cancelling_at: int | None
    """unix seconds of the request to cancel it; null without one"""
    cancelled_at: int | None
    """unix seconds; null unless cancelled"""
    expires_at: int
    """unix seconds; the end of the completion window"""
    input_file_id: str | None
    """the file that the items were read from"""
    output_file_id: str | None
    """file with the results of the items that succeeded; null until the batch ends, or if no item succeeded"""
    error_file_id: str | None
    """file with the errors of the other items; null until the batch ends, or if there are none"""
    completion_window: Literal["24h"]
    """always \"24h\""""
    request_counts: BatchRequestCounts
    """the items in the words of OpenAI"""
    counts: BatchCounts
    """the items by their state"""
    metadata: dict[str, str]
    """as given at creation"""


class Batch(_BatchRequired, total=False):
    usage: BatchUsage
    """what the items used and cost; only at the end"""
    errors: BatchErrors
    """only with invalid items"""


class BatchCompletedEvent(TypedDict):
    id: str
    """identifier, the same at every attempt"""
    object: Literal["event"]
    """always \"event\""""
    type: Literal["batch.completed"]
    """always \"batch.completed\""""
    created_at: int
    """unix seconds"""
    timestamp: str
    """the same time in ISO 8601"""
    data: Batch
    """the batch"""


class BatchCounts(TypedDict):
    queued: int
    """items that wait"""
    running: int
    """items in progress"""
    succeeded: int
    """items that succeeded"""
    failed: int
    """items that failed"""
    cancelled: int
    """items that were cancelled"""
    invalid: int
    """items without a task, because their request is invalid"""


class BatchError(TypedDict):
    index: int
    """position among the items, from 0"""
    line: int | None
    """line of the input file, from 1; null without a file"""
    custom_id: str | None
    """the name that the client gave the item"""
    code: str
    """reason, for programs"""
    param: str | None
    """the field that is wrong"""
    message: str
    """reason, for people"""


class BatchErrors(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[BatchError]
    """the first 100 of them"""


class BatchList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[Batch]
    """the batches, newest first"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class BatchRequestCounts(TypedDict):
    total: int
    """all items"""
    completed: int
    """items that succeeded"""
    failed: int
    """items that failed, were cancelled or are invalid"""


class _BatchRequestInputRequired(TypedDict):
    body: dict[str, Any]
    """the body that the endpoint takes, in the field names of REST"""


class BatchRequestInput(_BatchRequestInputRequired, total=False):
    custom_id: str
    """your name for the item: 1 to 64 printable ASCII characters, unique in the batch"""


class BatchUsage(TypedDict):
    images: int
    """images delivered"""
    video_seconds: int
    """whole seconds of video delivered"""
    submits: int
    """paid calls"""
    cost_micros: int
    """micro-units: 1,000,000 are 1 of the currency"""
    assumed_micros: int
    """part of the cost that is assumed"""
    unpriced_tasks: int
    """tasks without a price, which are not in the cost"""
    currency: str
    """ISO 4217"""


class Budget(TypedDict):
    amount_micros: int
    """micro-units of the currency: 1,000,000 are 1"""
    period: BudgetPeriod
    """how long the amount lasts, in UTC"""
    soft_percent: int | None
    """the share that a webhook reports; null: none"""


class BudgetExceededEvent(TypedDict):
    id: str
    """identifier, the same at every attempt"""
    object: Literal["event"]
    """always \"event\""""
    type: Literal["budget.exceeded"]
    """always \"budget.exceeded\""""
    created_at: int
    """unix seconds"""
    timestamp: str
    """the same time in ISO 8601"""
    data: BudgetReport
    """how much of the budget is used"""


class _BudgetInputRequired(TypedDict):
    amount_micros: int
    """micro-units of the currency: 1,000,000 are 1"""
    period: BudgetPeriod
    """day and month are those of UTC; total never starts again"""


class BudgetInput(_BudgetInputRequired, total=False):
    soft_percent: int
    """a webhook reports when this share of the amount is spent or reserved"""


class BudgetReport(TypedDict):
    spent_micros: int
    """cost of the tasks that were created in the period and are final"""
    reserved_micros: int
    """estimated cost of the tasks that are not final"""
    period_start: int
    """unix seconds"""
    period_end: int | None
    """unix seconds; null: the period has no end"""
    object: Literal["budget"]
    """always \"budget\""""
    api_key_id: str
    """the key whose budget it is"""
    amount_micros: int
    """the budget in micro-units of the currency"""


class BudgetStatus(TypedDict):
    spent_micros: int
    """cost of the tasks that were created in the period and are final"""
    reserved_micros: int
    """estimated cost of the tasks that are not final"""
    period_start: int
    """unix seconds"""
    period_end: int | None
    """unix seconds; null: the period has no end"""


class BudgetThresholdReachedEvent(TypedDict):
    id: str
    """identifier, the same at every attempt"""
    object: Literal["event"]
    """always \"event\""""
    type: Literal["budget.threshold_reached"]
    """always \"budget.threshold_reached\""""
    created_at: int
    """unix seconds"""
    timestamp: str
    """the same time in ISO 8601"""
    data: BudgetReport
    """how much of the budget is used"""


class Bus(TypedDict):
    kind: str
    """postgres or redis"""
    connected: bool
    """whether it reaches every process"""
    outbox: int
    """changes that wait to be sent"""


class CancelCounts(TypedDict):
    cancelled: int
    """tasks that this request has cancelled"""
    already_final: int
    """tasks that had ended already"""
    not_found: int
    """ids that belong to no task of yours"""


class CancelTasksInput(TypedDict, total=False):
    ids: list[str]
    """identifiers of tasks"""
    filter: TaskFilter
    """which unfinished tasks, by at least one condition; only the oldest 1,000 of them are cancelled"""


class Cost(TypedDict):
    amount_micros: int
    """micro-units: 1,000,000 are 1 of the currency"""
    currency: str
    """ISO 4217"""
    basis: CostBasis
    """how the cost was found"""


class _CreateApiKeyInputRequired(TypedDict):
    name: str
    """a name for people"""


class CreateApiKeyInput(_CreateApiKeyInputRequired, total=False):
    scopes: list[ApiKeyScope]
    """what the key may do; everything but keys:manage, operations:read and operations:manage when left out"""
    expires_at: int
    """unix seconds, in the future; the key never expires when left out"""
    limits: ApiKeyLimitsInput
    """limits of this key; the configured ones apply to those left out"""
    models: list[str] | None
    """ids of the models that it may use, exact or ending in *, also of models for listed keys only; every open one when null or left out"""


class CreateArchiveInput(TypedDict):
    file_ids: list[str]
    """uploads and outputs of yours, in the order of the archive"""


class CreateBatchInput(TypedDict, total=False):
    requests: list[BatchRequestInput]
    """the items"""
    input_file_id: str
    """in place of `requests`: a file of purpose batch, each line {\"custom_id\", \"method\": \"POST\", \"url\", \"body\"}, where `url` is the endpoint"""
    endpoint: str
    """the route whose bodies the items are: /v1/generations (default), /v1/images/generations, /v1/images/edits or /v1/videos"""
    on_invalid: BatchOnInvalid
    """what happens when items are invalid; refuse when left out"""
    priority: TaskPriority
    """priority of the items that name none; low when left out"""
    task_events: bool
    """whether the end of each item is sent to webhooks; true when left out"""
    metadata: dict[str, str]
    """up to 16 key-value pairs of text, returned unchanged with the batch"""
    completion_window: str
    """always \"24h\""""


class _CreatePauseInputRequired(TypedDict):
    reason: str
    """why, for other operators"""


class CreatePauseInput(_CreatePauseInputRequired, total=False):
    model: str
    """id of a model"""
    provider: str
    """name of a provider"""
    place: int
    """number of a place, as in the list of providers"""
    until: int | None
    """unix seconds at which it ends by itself"""
    refuse_creates: bool
    """whether creations for the models that cannot start are refused with 503; false when left out"""


class CreateSessionInput(TypedDict, total=False):
    api_key: str
    """the API key to sign in with"""
    code: str
    """the code of a sign-in link, in place of a key; it works once"""
    remember: bool
    """true: the session survives the browser, and ends after 30 days without use. false or left out: 12 hours without use"""


class _CreateShareInputRequired(TypedDict):
    file_ids: list[str]
    """pictures and films of yours, in the order of the page"""
    expires_at: int
    """unix seconds; nobody can open the page after this time. At most 365 days from now"""


class CreateShareInput(_CreateShareInputRequired, total=False):
    show_prompt: bool
    """whether the page shows the prompts; not when left out"""


class _CreateUploadInputRequired(TypedDict):
    filename: str
    """name of the file; it is only shown"""
    bytes: int
    """size in bytes"""
    content_type: str
    """media type of the bytes"""


class CreateUploadInput(_CreateUploadInputRequired, total=False):
    purpose: UploadPurpose
    """what the file is for; vision when left out"""
    sha256: str
    """SHA-256 of the bytes in hex; they are refused if it differs"""
    expires_after: ExpiresAfterInput
    """when the file expires"""


class _CreateWebhookEndpointInputRequired(TypedDict):
    url: str
    """the URL that receives events: https, a public address"""


class CreateWebhookEndpointInput(_CreateWebhookEndpointInputRequired, total=False):
    events: list[WebhookEventType]
    """the events to receive; those of tasks when left out"""
    description: str
    """a note for people"""


class _DeclaredModelRequestRequired(TypedDict):
    model: str
    """A model that the operator has declared. GET /v1/models/{id} has its exact parameters."""
    prompt: str
    """What to make, in words. It must not be blank."""


class DeclaredModelRequest(_DeclaredModelRequestRequired, total=False):
    negative_prompt: str
    """What the result must not show, in words."""
    reference_images: list[str]
    """Images to follow or to edit: up to 50 still JPEG, PNG or WebP files."""
    mask: str
    """Which part of the first of reference_images to change: where it is transparent, or white if it has no transparency."""
    strength: float
    """How far to go from the first of reference_images: 0 keeps it, 1 ignores it."""
    first_frame_image_url: str
    """http(s) URL of a still JPEG, PNG or WebP image for the video to start from."""
    last_frame_image_url: str
    """http(s) URL of a still JPEG, PNG or WebP image for the video to end with."""
    reference_image_url: str
    """http(s) URL of a still JPEG, PNG or WebP image to follow."""
    reference_mode: Literal["omni", "first_frame", "first_last", "multi_frame"]
    """How the image guides the video."""
    size: str
    """The pixels: WIDTHxHEIGHT."""
    aspect_ratio: str
    """Width to height."""
    resolution: str
    """Size class of the image or video."""
    n: int
    """How many images to make."""
    quality: Literal["auto", "low", "medium", "high", "xhigh", "max"]
    """How much work the model puts into an image. \"auto\" leaves the choice to the model."""
    background: Literal["auto", "opaque", "transparent"]
    """Whether what is behind the subject is transparent."""
    seed: int
    """The same seed with the same parameters gives a similar result; random when left out."""
    duration: int
    """Length of the video in seconds."""
    generate_audio: bool
    """Whether the video has sound."""
    output_format: Literal["png", "jpeg", "webp"]
    """File format of the images. When left out, the file is as the provider made it."""
    output_compression: int
    """Quality of the encoder in percent; only with output_format \"jpeg\" or \"webp\". Default: 100."""
    metadata: dict[str, str]
    """Up to 16 key-value pairs of text, stored with the task and returned unchanged."""
    priority: Literal["normal", "low"]
    """A task of low priority waits behind those of normal priority. It may wait a day for its start. Default: \"normal\"."""
    parent_task_id: str
    """Id of your task that this one is made from."""


class DeletedFile(TypedDict):
    id: str
    """identifier of the file"""
    object: Literal["file"]
    """always \"file\""""
    deleted: bool
    """always true"""


class DeletedShare(TypedDict):
    id: str
    """identifier of the share"""
    object: Literal["share"]
    """always \"share\""""
    deleted: bool
    """always true"""


class DeletedTask(TypedDict):
    id: str
    """identifier that the task had"""
    object: Literal["task.deleted"]
    """always \"task.deleted\""""
    deleted: bool
    """always true"""


class DeletedVideo(TypedDict):
    id: str
    """identifier that the video had"""
    object: Literal["video.deleted"]
    deleted: bool
    """always true"""


class DispatchCounts(TypedDict):
    due: int
    """due now"""
    waiting: int
    """due later"""
    under_way: int
    """being sent"""


class EndpointCounts(TypedDict):
    enabled: int
    """enabled endpoints whose last attempt succeeded, and those without an attempt"""
    failing: int
    """enabled endpoints whose last attempt failed"""
    disabled: int
    """endpoints that their owners or the service have disabled"""


class EndpointStats(TypedDict):
    delivered: int
    """events that it accepted"""
    failed: int
    """events that it did not accept, and that are not sent again"""
    waiting: int
    """events that it did not accept yet, and that will be sent again"""
    p50_ms: int | None
    """milliseconds; the median of the accepted attempts; null without any"""
    last_attempted_at: int | None
    """unix seconds of the last attempt, however long ago; null before the first"""
    last_status_code: int | None
    """HTTP status of the last attempt; null if none arrived"""
    hourly: list[WebhookHour]
    """hours with attempts, the oldest first"""


class Erasure(TypedDict):
    id: str
    """identifier"""
    object: Literal["erasure"]
    """always \"erasure\""""
    api_key_id: str
    """the erased API key"""
    status: ErasureStatus
    """how far it is"""
    counts: ErasureCounts
    """what is erased so far"""
    out_of_reach: list[ErasureOutOfReach]
    """where texts of the key may remain, because the service cannot erase there"""
    created_at: int
    """unix seconds"""
    created_by: str | None
    """the API key that ordered it; null: the command line"""
    finished_at: int | None
    """unix seconds; null while it runs"""


class ErasureCounts(TypedDict):
    tasks: int
    """tasks, with input, result and timeline"""
    files: int
    """outputs of these tasks"""
    uploads: int
    """uploaded files"""
    shares: int
    """shares"""
    idempotency_keys: int
    """stored answers to requests with an Idempotency-Key"""
    calls: int
    """synchronous calls"""
    batches: int
    """batches"""
    webhook_endpoints: int
    """webhook endpoints, with their secrets"""
    webhook_events: int
    """webhook events"""
    webhook_deliveries: int
    """attempts to deliver them"""
    usage_records: int
    """records of usage that lost their metadata; their numbers stay"""
    sessions: int
    """browser sessions"""
    audit_events: int
    """audit events that lost names and addresses of the key"""


class ErasureList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[Erasure]
    """newest first"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class Estimate(TypedDict):
    object: Literal["estimate"]
    """always \"estimate\""""
    model: str
    """id of the model"""
    kind: MediaKind
    """what the model makes"""
    input: dict[str, Any]
    """the parameters as resolved, with the defaults"""
    cost: Cost
    """the highest price among its providers; `unpriced` if none has one"""
    estimated_start_at: int | None
    """unix seconds; null: unknown"""
    estimated_completion_at: int | None
    """unix seconds; null: unknown"""
    within_budget: bool
    """whether the budget of the API key has room for it now; true without a budget"""


class ExpiresAfterInput(TypedDict):
    anchor: ExpiryAnchor
    """the time from which the seconds count"""
    seconds: int
    """seconds"""


class _FailTaskInputRequired(TypedDict):
    code: TaskErrorCode
    """the error code that its owner gets"""


class FailTaskInput(_FailTaskInputRequired, total=False):
    reason: str
    """why, for other operators"""


class _FailTasksInputRequired(TypedDict):
    filter: OperatorTaskFilter
    """which unfinished tasks, by at least one condition; only the oldest 10,000 of them are taken"""
    code: TaskErrorCode
    """the error code that their owners get"""


class FailTasksInput(_FailTasksInputRequired, total=False):
    reason: str
    """why, for other operators"""


class _FileRequired(TypedDict):
    id: str
    """identifier; usable wherever an image is wanted"""
    object: Literal["file"]
    """always \"file\""""
    bytes: int
    """size in bytes. While pending: as announced. Results of a batch: their size now"""
    created_at: int
    """unix seconds"""
    expires_at: int | None
    """unix seconds; the file is deleted at this time; null while it is kept"""
    filename: str
    """as given with the upload"""
    purpose: FilePurpose
    """what the file is for"""
    status: FileStatus
    """whether its bytes have arrived"""
    content_type: str
    """media type of the bytes; as announced while pending"""
    sha256: str | None
    """SHA-256 of the bytes in hex. While pending: as announced, or null. Results of a batch: null"""
    url: str | None
    """signed link to the bytes, which works without the API key; null before they arrive and after they are deleted"""
    url_expires_at: int | None
    """unix seconds; read the file again for a new link"""
    kept: bool
    """whether its owner keeps it: it is not deleted when its retention ends; outputs only"""
    collection: str | None
    """the name under which it is kept"""


class File(_FileRequired, total=False):
    width: int
    """pixels; images and videos only"""
    height: int
    """pixels; images and videos only"""
    task_id: str
    """the task that made it, or whose request contained it"""
    upload: FileUpload
    """how to send the bytes; only in the response that creates a pending file"""


class FileList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[File]
    """the uploads"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class FileUpload(TypedDict):
    method: Literal["PUT"]
    """always \"PUT\""""
    url: str
    """where to send the bytes; no API key is needed"""
    headers: dict[str, str]
    """headers that must be sent exactly as here"""
    expires_at: int
    """unix seconds; the URL works until then"""


class _GptImage2RequestRequired(TypedDict):
    model: Literal["gpt-image-2"]
    """The model that makes the content."""
    prompt: str
    """What to make, in words. It must not be blank."""


class GptImage2Request(_GptImage2RequestRequired, total=False):
    reference_images: list[str]
    """Images to follow or to edit: up to 16 still JPEG, PNG or WebP files."""
    mask: str
    """Which part of the first of reference_images to change: where it is transparent, or white if it has no transparency."""
    size: str
    """The pixels: WIDTHxHEIGHT, each a multiple of 16 from 16 to 3840, at least 655360 pixels, at most 8294400 pixels, at most 3 to 1."""
    aspect_ratio: Literal["auto", "1:1", "5:4", "9:16", "21:9", "16:9", "3:2", "4:3", "4:5", "3:4", "2:3"]
    """Width to height. \"auto\" leaves the choice to the model. Default: \"auto\"."""
    resolution: Literal["1K", "2K", "4K"]
    """Size class of the image. Default: \"1K\"."""
    n: int
    """How many images to make. Default: 1."""
    quality: Literal["auto", "low", "medium", "high"]
    """How much work the model puts into an image. \"auto\" leaves the choice to the model. Default: \"auto\"."""
    background: Literal["auto", "opaque", "transparent"]
    """Whether what is behind the subject is transparent."""
    output_format: Literal["png", "jpeg", "webp"]
    """File format of the images. When left out, the file is as the provider made it."""
    output_compression: int
    """Quality of the encoder in percent; only with output_format \"jpeg\" or \"webp\". Default: 100."""
    metadata: dict[str, str]
    """Up to 16 key-value pairs of text, stored with the task and returned unchanged."""
    priority: Literal["normal", "low"]
    """A task of low priority waits behind those of normal priority. It may wait a day for its start. Default: \"normal\"."""
    parent_task_id: str
    """Id of your task that this one is made from."""


class KeepInput(TypedDict, total=False):
    collection: str | None
    """the name under which it is kept; none when left out"""


class KeyQueue(TypedDict):
    api_key_id: str
    """the API key"""
    name: str | None
    """its name; null when it was deleted"""
    queued: int
    """queued tasks"""
    running: int
    """running tasks"""
    oldest_waiting_s: float | None
    """seconds for which its oldest queued task has waited; null: none is queued"""
    max_running: int | None
    """most tasks at once; 0: no limit; null for a deleted key"""
    max_queued: int | None
    """most queued tasks; 0: no limit; null for a deleted key"""
    creates_per_minute: int | None
    """creations a minute; 0: no limit; null for a deleted key"""
    reads_per_minute: int | None
    """reads a minute; 0: no limit; null for a deleted key"""
    weight: int | None
    """its weight: share of worker time beside other keys; null for a deleted key"""
    refused_last_hour: int
    """requests over a rate limit in the last hour"""
    failed_last_hour: int
    """tasks that failed in the last hour, other than by a cancel"""
    last_used_at: int | None
    """unix seconds; null: never"""


class KeyQueueList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[KeyQueue]
    """those with most unfinished tasks first, 100 at most"""
    has_more: bool
    """always false"""


class Lifecycle(TypedDict):
    status: ModelStatus
    """a deprecated model still works; a retired one is refused"""
    deprecated_at: int | None
    """unix seconds of the deprecation; null for an active model"""
    sunset_at: int | None
    """unix seconds of the planned retirement; null when none is announced"""
    replacement: str | None
    """id of the model to use instead"""


class LogLevels(TypedDict):
    object: str
    """always \"log_levels\""""
    log_level: LogLevel | None
    """in place of LOG_LEVEL; null: LOG_LEVEL is in force"""
    log_levels: dict[str, str]
    """by context, in place of those in LOG_LEVELS"""
    changed_at: int | None
    """unix seconds; null: never"""
    changed_by: str | None
    """the API key that set them; null: none, or the command line"""


class _ManyTasksInputRequired(TypedDict):
    filter: OperatorTaskFilter
    """which unfinished tasks, by at least one condition; only the oldest 10,000 of them are taken"""


class ManyTasksInput(_ManyTasksInputRequired, total=False):
    reason: str
    """why, for other operators"""


class Model(TypedDict):
    id: str
    """id of the model in a creation request"""
    object: Literal["model"]
    """always \"model\""""
    owned_by: str
    """who made the model"""
    kind: MediaKind
    """what the model makes"""
    created: int
    """unix seconds at which the model was added"""
    description: str
    """what the model is suited for"""
    parameters: dict[str, Any]
    """JSON Schema (2020-12) of a creation request: every allowed value, default and bound"""
    capabilities: ModelCapabilities
    """what the model can do; it follows from its parameters"""
    declared: bool
    """true: a model of the operator; false: one that comes with the service"""
    version: str
    """version of the declaration; it changes when the same request would mean something else"""
    available: bool
    """whether a provider can serve the model now"""
    sandbox: bool
    """whether the built-in sandbox serves the model: free, and nothing leaves the service"""
    lifecycle: Lifecycle
    """deprecation and retirement of the model"""
    shutdown_date: str | None
    """the day of the planned retirement, YYYY-MM-DD; null when none is announced"""
    health: ModelHealth
    """how well the model works now"""
    typical: ModelTypical | None
    """how long recent tasks took; null if there are fewer than five"""
    pricing: ModelPricing | None
    """the operator's prices; null without any"""


class ModelCapabilities(TypedDict):
    edits: bool
    """whether it changes images that are given"""
    mask: bool
    """whether a mask says which part to change"""
    first_frame: bool
    """whether a video can start from an image"""
    last_frame: bool
    """whether a video can end with an image"""
    audio: bool
    """whether a request can choose if a video has sound"""
    seed: bool
    """whether a request may give the seed"""
    negative_prompt: bool
    """whether a request may have a negative prompt"""
    source_video: bool
    """whether it changes videos that are given"""
    max_reference_images: int
    """images to follow or to edit; 0: none"""
    size: ModelSizes
    """table: by ratio and resolution; pixels: by width and height"""
    own_parameters: list[str]
    """parameters that only this model has"""


class ModelHealth(TypedDict):
    status: ModelHealthStatus
    """`degraded`: a provider is not called for a while, or fewer than 9 in 10 tasks succeed. `unavailable`: no provider can serve the model"""
    queued: int
    """tasks that wait"""
    running: int
    """tasks that run"""
    median_run_s: float | None
    """median of the last 200 successes, in seconds from start to end; null without any"""
    success_rate: float | None
    """part of the tasks of the last hour that succeeded, 0 to 1, without cancelled tasks and refused content; null: none has ended"""
    sampled_at: int
    """unix seconds; at most ten seconds old"""


class ModelList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[Model]
    """every model that is not retired, the first recommendation first"""


class _ModelPriceRequired(TypedDict):
    unit: PriceUnit
    """the unit that the amount is for: a task, an image, a second or a million tokens"""
    amount_micros: int
    """micro-units: 1,000,000 are 1 of the currency"""


class ModelPrice(_ModelPriceRequired, total=False):
    resolution: str
    """only for this resolution; any when left out"""
    quality: str
    """only for this quality; any when left out"""


class ModelPricing(TypedDict):
    currency: str
    """ISO 4217"""
    rows: list[ModelPrice]
    """the prices; if several rows for the same unit fit, the first one counts"""


class ModelQueue(TypedDict):
    model: str
    """id of the model"""
    waiting: int
    """tasks that wait for a worker"""
    parked: int
    """tasks that wait for a place of their API key"""
    paused: int
    """tasks that wait for the end of a pause"""
    running: int
    """tasks that run"""
    oldest_waiting_s: float | None
    """seconds for which the oldest one that waits for a worker has waited; null: none"""
    succeeded_last_hour: int
    """tasks that succeeded in the last hour"""
    failed_last_hour: int
    """tasks that failed in the last hour, without cancels and refused content"""


class ModelTypical(TypedDict):
    tasks: int
    """how many succeeded tasks the times were measured on: the last 200 at most"""
    wait_p50_ms: int
    """milliseconds from creation to start, median"""
    run_p50_ms: int
    """milliseconds from start to end, median"""
    run_p95_ms: int
    """milliseconds from start to end, 95th percentile"""


class _NanoBanana2RequestRequired(TypedDict):
    model: Literal["nano-banana-2"]
    """The model that makes the content."""
    prompt: str
    """What to make, in words. It must not be blank."""


class NanoBanana2Request(_NanoBanana2RequestRequired, total=False):
    reference_images: list[str]
    """Images to follow or to edit: up to 14 still JPEG, PNG or WebP files."""
    aspect_ratio: Literal["auto", "21:9", "16:9", "3:2", "4:3", "1:1", "3:4", "2:3", "9:16"]
    """Width to height. \"auto\" leaves the choice to the model. Default: \"auto\"."""
    resolution: Literal["2K", "4K"]
    """Size class of the image. Default: \"2K\"."""
    n: int
    """How many images to make. Default: 1."""
    output_format: Literal["png", "jpeg", "webp"]
    """File format of the images. When left out, the file is as the provider made it."""
    output_compression: int
    """Quality of the encoder in percent; only with output_format \"jpeg\" or \"webp\". Default: 100."""
    metadata: dict[str, str]
    """Up to 16 key-value pairs of text, stored with the task and returned unchanged."""
    priority: Literal["normal", "low"]
    """A task of low priority waits behind those of normal priority. It may wait a day for its start. Default: \"normal\"."""
    parent_task_id: str
    """Id of your task that this one is made from."""


class _NanoBananaProRequestRequired(TypedDict):
    model: Literal["nano-banana-pro"]
    """The model that makes the content."""
    prompt: str
    """What to make, in words. It must not be blank."""


class NanoBananaProRequest(_NanoBananaProRequestRequired, total=False):
    reference_images: list[str]
    """Images to follow or to edit: up to 14 still JPEG, PNG or WebP files."""
    aspect_ratio: Literal["auto", "21:9", "16:9", "3:2", "4:3", "1:1", "3:4", "2:3", "9:16"]
    """Width to height. \"auto\" leaves the choice to the model. Default: \"auto\"."""
    resolution: Literal["2K", "4K"]
    """Size class of the image. Default: \"2K\"."""
    n: int
    """How many images to make. Default: 1."""
    output_format: Literal["png", "jpeg", "webp"]
    """File format of the images. When left out, the file is as the provider made it."""
    output_compression: int
    """Quality of the encoder in percent; only with output_format \"jpeg\" or \"webp\". Default: 100."""
    metadata: dict[str, str]
    """Up to 16 key-value pairs of text, stored with the task and returned unchanged."""
    priority: Literal["normal", "low"]
    """A task of low priority waits behind those of normal priority. It may wait a day for its start. Default: \"normal\"."""
    parent_task_id: str
    """Id of your task that this one is made from."""


class Objective(TypedDict):
    name: ObjectiveName
    """what it is about"""
    objective: float
    """part of the events that must be good, such as 0.999"""
    events: int
    """events of the last hour"""
    bad: int
    """the bad ones among them"""
    burn_rate: float | None
    """how fast the error budget is used up: 1 is as fast as allowed; null without events"""
    state: ObjectiveState
    """`burning`: faster than allowed. `burning_fast`: over 14.4 times as fast. `quiet`: 30 events or fewer"""


class OperationsOverview(TypedDict):
    object: Literal["operations"]
    """always \"operations\""""
    version: str
    """version of the process that answers"""
    migration: str
    """the last migration of the database"""
    known_migration: str
    """the last migration that the process that answers knows"""
    checks: dict[str, Any]
    """the readiness checks of the process that answers, as in `/readyz`"""
    processes: ProcessCounts
    """processes by state"""
    queue: list[ModelQueue]
    """unfinished tasks by model; models without any are left out"""
    rates: TaskRates
    """the last five minutes"""
    places: TaskPlaces
    """summed over the processes that claim tasks"""
    objectives: list[Objective]
    """the service level objectives in the last hour"""
    storage: str
    """where files are: disk or s3"""
    bus: Bus
    """the bus of events"""
    database_connections: ProcessConnections
    """connections to the database, of all processes together"""
    pauses: int
    """pauses in force"""
    log_levels: LogLevels
    """what an operator has set"""
    sampled_at: int
    """unix seconds"""


class OperatorTask(TypedDict):
    task_id: str
    """identifier"""
    object: Literal["operator_task"]
    """always \"operator_task\""""
    api_key_id: str
    """the API key that owns it"""
    model: str
    """id of the model"""
    kind: MediaKind
    """kind of output"""
    status: TaskStatus
    """its status"""
    waiting_for: OperatorTaskWait | None
    """what a queued task waits for; null for the others"""
    pause_id: str | None
    """the pause that holds it"""
    stuck: TaskStuckReason | None
    """why it seems stuck; null: it does not"""
    low_priority: bool
    """whether it waits behind the tasks of normal priority"""
    attempt: int
    """number of the current claim; 0 before the first"""
    losses: int
    """attempts that ended with a lost worker or job"""
    worker_id: str | None
    """the process that runs it"""
    lease_until: int | None
    """unix seconds at which its lease ends"""
    created_at: int
    """unix seconds"""
    started_at: int | None
    """unix seconds; null before the first start"""
    completed_at: int | None
    """unix seconds; null while unfinished"""
    deadline_at: int
    """unix seconds at which it fails"""
    provider: str | None
    """name of the provider that was called last"""
    provider_host: str | None
    """host of the provider; null for a model of the MODELS folder"""
    provider_model: str | None
    """the provider's own name for the model"""
    credential: str | None
    """name of the variable that holds the key of the provider; null for a model of the MODELS folder"""
    submitted_at: int | None
    """unix seconds; recorded just before the paid call"""
    upstream_id: str | None
    """the provider's id for the job"""
    request_id: str | None
    """the `x-request-id` of its creation"""
    error_code: str | None
    """code of its error; null unless it failed"""


class OperatorTaskFilter(TypedDict, total=False):
    state: OperatorTaskState
    """the state of the task"""
    worker_id: str
    """the process that runs it"""
    provider: str
    """name of the provider that was called last"""
    api_key_id: str
    """the API key that owns it"""
    model: str
    """id of the model"""


class OperatorTaskList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[OperatorTask]
    """oldest first"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class OperatorWebhooks(TypedDict):
    object: str
    """always \"operator_webhooks\""""
    endpoints: EndpointCounts
    """endpoints by state"""
    dispatches: DispatchCounts
    """unfinished deliveries by state"""
    oldest_due_s: float | None
    """seconds for which the oldest due event has waited; null: none is due"""
    attempts: list[WebhookAttempts]
    """attempts of the last hour by outcome"""
    troubled: list[TroubledEndpoint]
    """endpoints that fail, the longest failing first; at most 100"""


class OwnSession(TypedDict):
    id: str
    """identifier"""
    object: str
    """always \"session\""""
    expires_at: int
    """unix seconds at which the session ends; each use moves the end"""
    api_key: ApiKey
    """the API key that the browser is signed in with"""


class PassedOver(TypedDict):
    reason: str
    """full, circuit_open, unsupported, or the code of the error"""
    count: int
    """in the last hour"""


class Pause(TypedDict):
    id: str
    """identifier"""
    object: Literal["pause"]
    """always \"pause\""""
    kind: PauseKind
    """what is paused"""
    model: str | None
    """id of the paused model; null for the others"""
    provider: str | None
    """name of the paused provider; null for a model"""
    place: int | None
    """number of the paused place; null for the others"""
    reason: str
    """why"""
    refuse_creates: bool
    """whether creations for `models` are refused with 503"""
    models: list[str]
    """the models that start no tasks because of it"""
    tasks: int
    """waiting tasks that it holds"""
    until: int | None
    """unix seconds at which it ends by itself; null without"""
    created_at: int
    """unix seconds"""
    created_by: str | None
    """the API key that created it; null: the command line"""
    ended_at: int | None
    """unix seconds; null while it lasts"""


class PauseList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[Pause]
    """newest first"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class PlaceModel(TypedDict):
    model: str
    """id of the model"""
    position: int
    """rank among the bindings of the model, from 1: the order in which they are tried"""
    upstream_model: str
    """the provider's own name for it"""
    succeeded_last_hour: int
    """tasks of it that succeeded at the provider in the last hour"""
    failed_last_hour: int
    """tasks of it that failed there in the last hour, without cancels and refused content"""
    last_error_code: str | None
    """code of the last of these failures"""
    last_error_at: int | None
    """unix seconds"""


class PlaceUser(TypedDict):
    api_key_id: str
    """the API key"""
    tasks: int
    """its tasks in flight"""


class Process(TypedDict):
    id: str
    """identifier: what tasks show as their worker"""
    object: Literal["process"]
    """always \"process\""""
    role: ProcessRole
    """what it runs"""
    version: str
    """version of the program"""
    host: str
    """name of its machine"""
    state: ProcessState
    """late after 12 s without a heartbeat, lost after 30 s, gone after an hour"""
    started_at: int
    """unix seconds"""
    last_seen_at: int
    """unix seconds"""
    slots: int
    """most tasks at once, without those that only poll; 0 without a worker"""
    busy: int
    """tasks that it runs, with those that only poll"""
    drain_requested: bool
    """whether an operator has asked it to drain"""
    lease_margin_s: float | None
    """seconds that the most urgent lease had left at the last renewal; null before the first"""
    circuits: list[ProcessCircuit]
    """the circuit breakers of its calls"""
    database_connections: ProcessConnections | None
    """its connections to the database; null until it publishes them"""
    bus_connected: bool | None
    """whether changes by other processes reach it at once; null until it reports"""
    log_level: LogLevel | None
    """the log level in force; null until it reports"""
    log_levels: dict[str, str]
    """the log levels in force by context"""


class ProcessCircuit(TypedDict):
    place: int
    """number of the place"""
    provider: str
    """name of the provider"""
    open: bool
    """whether this process has stopped calling it for now"""
    failures: int
    """failures in a row"""


class ProcessConnections(TypedDict):
    used: int
    """connections in use"""
    idle: int
    """open connections that are free"""
    waiting: int
    """callers that wait for one"""
    max: int
    """most connections"""


class ProcessCounts(TypedDict):
    live: int
    """processes"""
    late: int
    """processes without a heartbeat for 12 s"""
    draining: int
    """processes that claim no new tasks"""
    drained: int
    """drained processes, which may be stopped"""
    lost: int
    """processes without a heartbeat for 30 s"""


class ProcessList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[Process]
    """by role, then by start"""
    has_more: bool
    """always false"""


class ProviderPlace(TypedDict):
    place: int
    """number of the place, from 1, in the order of the bindings"""
    object: Literal["provider_place"]
    """always \"provider_place\""""
    provider: str
    """name of the provider"""
    host: str | None
    """host that is called; null without one, and where only models of the MODELS folder are served"""
    credential: str | None
    """name of the variable that holds its key; null without one, and where only models of the MODELS folder are served"""
    credential_present: bool
    """whether that variable has a value; true if no key is needed"""
    models: list[PlaceModel]
    """the models that it serves"""
    concurrency: int | None
    """most tasks in flight; null: no limit"""
    in_flight: int
    """tasks in flight, over all processes"""
    users: list[PlaceUser]
    """the ten API keys with the most tasks in flight here"""
    circuit_open_in: list[str]
    """the processes that have stopped calling it for now"""
    error_share: float | None
    """part of the tasks of the provider that failed in the last hour, 0 to 1; null: none has ended"""
    passed_over: list[PassedOver]
    """why the provider did not serve tasks in the last hour"""
    pauses: list[str]
    """the pauses that keep tasks from it"""


class ProviderPlaceList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[ProviderPlace]
    """by number"""
    has_more: bool
    """always false"""


class QueueHistory(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[QueueMinute]
    """every minute, the oldest first"""
    has_more: bool
    """always false"""


class QueueMinute(TypedDict):
    minute: int
    """start of the minute, unix seconds"""
    waiting: int | None
    """queued tasks of API keys that are below their limit of running tasks"""
    parked: int | None
    """queued tasks of API keys that have reached their limit of running tasks"""
    running: int | None
    """running tasks"""


class ReasonInput(TypedDict, total=False):
    reason: str
    """why, for other operators"""


class RecoverWebhookEndpointInput(TypedDict):
    since: int
    """unix seconds: failed events created at that time or later are sent again"""


class _ReplayWebhooksInputRequired(TypedDict):
    since: int
    """events created from this time on, unix seconds"""


class ReplayWebhooksInput(_ReplayWebhooksInputRequired, total=False):
    until: int
    """exclusive, unix seconds; now when left out"""
    endpoint_id: str
    """only to this endpoint"""
    api_key_id: str
    """only events of this API key"""
    events: WebhookReplayEvents
    """which events: those that the endpoint has not accepted (default), or all"""


class RetryTaskInput(TypedDict, total=False):
    input: dict[str, Any]
    """parameters to change, by their names in REST; null removes one"""
    metadata: dict[str, str]
    """the metadata of the new task; that of the first one when left out"""
    priority: TaskPriority
    """that of the first task when left out"""


class RotateApiKeyInput(TypedDict, total=False):
    overlap_hours: float
    """hours during which the old secret stays valid; 0 when left out"""


class RotateWebhookSecretInput(TypedDict, total=False):
    keep_old_secret_for_hours: float
    """hours during which the old secret signs as well; 0 when left out"""


class _Seedance2RequestRequired(TypedDict):
    model: Literal["seedance-2"]
    """The model that makes the content."""
    prompt: str
    """What to make, in words. It must not be blank."""


class Seedance2Request(_Seedance2RequestRequired, total=False):
    first_frame_image_url: str
    """http(s) URL of a still JPEG, PNG or WebP image for the video to start from."""
    last_frame_image_url: str
    """http(s) URL of a still JPEG, PNG or WebP image for the video to end with; not with reference_image_url."""
    reference_image_url: str
    """http(s) URL of a still JPEG, PNG or WebP image to follow; not with reference_mode \"first_frame\"."""
    reference_mode: Literal["omni", "first_frame"]
    """How the images guide the video; \"first_frame\" needs first_frame_image_url. Default: \"omni\"."""
    aspect_ratio: Literal["21:9", "16:9", "4:3", "1:1", "3:4", "9:16"]
    """Width to height. Default: \"21:9\"."""
    resolution: Literal["720p", "1080p"]
    """Size class of the video, with a lower-case p. Default: \"720p\"."""
    seed: int
    """The same seed with the same parameters gives a similar result; random when left out."""
    duration: int
    """Length of the video in seconds. Default: 5."""
    generate_audio: bool
    """Whether the video has sound; a provider makes it when left out."""
    metadata: dict[str, str]
    """Up to 16 key-value pairs of text, stored with the task and returned unchanged."""
    priority: Literal["normal", "low"]
    """A task of low priority waits behind those of normal priority. It may wait a day for its start. Default: \"normal\"."""
    parent_task_id: str
    """Id of your task that this one is made from."""


class SetLogLevelsInput(TypedDict, total=False):
    log_level: LogLevel | None
    """the least severe level that is logged, in place of LOG_LEVEL"""
    log_levels: dict[str, str]
    """levels of single contexts, in place of those in LOG_LEVELS"""


class Share(TypedDict):
    id: str
    """identifier"""
    object: Literal["share"]
    """always \"share\""""
    url: str
    """the signed address of the page: anyone with it can open the page"""
    file_ids: list[str]
    """the files, in the order of the page"""
    show_prompt: bool
    """whether the page shows the prompts"""
    created_at: int
    """unix seconds"""
    expires_at: int
    """unix seconds; nobody can open the page after this time"""


class ShareList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[Share]
    """the shares"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class _Sora2RequestRequired(TypedDict):
    model: Literal["sora-2"]
    """The model that makes the content."""
    prompt: str
    """What to make, in words. It must not be blank."""


class Sora2Request(_Sora2RequestRequired, total=False):
    first_frame_image_url: str
    """http(s) URL of a still JPEG, PNG or WebP image for the video to start from."""
    last_frame_image_url: str
    """http(s) URL of a still JPEG, PNG or WebP image for the video to end with; with reference_mode \"first_last\" only."""
    reference_mode: Literal["omni", "first_last", "multi_frame"]
    """How the image guides the video. Default: \"omni\"."""
    aspect_ratio: Literal["21:9", "16:9", "4:3", "1:1", "3:4", "9:16"]
    """Width to height. Default: \"16:9\"."""
    resolution: Literal["720P", "1080P", "4K"]
    """Size class of the video, with a capital P. Default: \"1080P\"."""
    seed: int
    """The same seed with the same parameters gives a similar result; random when left out."""
    duration: int
    """Length of the video in seconds. Default: 5."""
    generate_audio: bool
    """Whether the video has sound; a provider makes it when left out."""
    metadata: dict[str, str]
    """Up to 16 key-value pairs of text, stored with the task and returned unchanged."""
    priority: Literal["normal", "low"]
    """A task of low priority waits behind those of normal priority. It may wait a day for its start. Default: \"normal\"."""
    parent_task_id: str
    """Id of your task that this one is made from."""


class StoredEvent(TypedDict):
    id: str
    """identifier"""
    object: Literal["event"]
    """always \"event\""""
    type: WebhookDeliveryEventType
    """type of the event"""
    created_at: int
    """unix seconds"""
    task_id: str | None
    """the task that the event is about; null for one about no task"""
    body: str
    """the body, byte for byte"""
    deliveries: list[WebhookDelivery]
    """the attempts to send it, newest first, at most 100"""


class TaskApproximation(TypedDict):
    param: str
    """name of the parameter"""
    requested: str
    """the requested value"""
    used: str
    """the value the provider used"""


class TaskBatch(TypedDict):
    id: str
    """identifier of the batch"""
    index: int
    """position among the items, from 0"""
    custom_id: str | None
    """the name that the client gave the item"""


class TaskCompletedEvent(TypedDict):
    id: str
    """identifier, the same at every attempt"""
    object: Literal["event"]
    """always \"event\""""
    type: Literal["task.completed"]
    """always \"task.completed\""""
    created_at: int
    """unix seconds"""
    timestamp: str
    """the same time in ISO 8601"""
    data: SucceededTaskInEvent
    """the task, as `GET /v1/tasks/{task_id}` shows it; a body of more than 20 kB leaves out `input`, then `metadata`"""


class TaskCounts(TypedDict):
    queued: int
    """waiting tasks"""
    running: int
    """running tasks"""
    succeeded: int
    """succeeded tasks, among the final ones that were counted"""
    failed: int
    """failed tasks, among the final ones that were counted"""
    cancelled: int
    """cancelled tasks; `failed` counts them too"""
    capped: bool
    """whether there are more: at most 10,000 unfinished and the 10,000 newest final tasks are counted"""


class _TaskErrorRequired(TypedDict):
    code: TaskErrorCode
    """reason, for programs"""
    message: str
    """reason, for people"""
    retryable: bool
    """whether the same request may succeed later"""


class TaskError(_TaskErrorRequired, total=False):
    param: str
    """name of the parameter that caused the failure"""


class TaskEstimate(TypedDict):
    object: Literal["task_estimate"]
    """always \"task_estimate\""""
    task_id: str
    """identifier of the task"""
    status: TaskStatus
    """status of the task"""
    position: int | None
    """1: it starts next. null: it does not wait for a worker, or its position is beyond 10,000"""
    waiting_for: WaitingFor | None
    """what the task waits for; null when it does not wait"""
    estimated_start_at: int | None
    """unix seconds; null when unknown"""
    estimated_completion_at: int | None
    """unix seconds; null when unknown"""
    sampled_at: int
    """unix seconds at which the line was read"""


class TaskFailedEvent(TypedDict):
    id: str
    """identifier, the same at every attempt"""
    object: Literal["event"]
    """always \"event\""""
    type: Literal["task.failed"]
    """always \"task.failed\""""
    created_at: int
    """unix seconds"""
    timestamp: str
    """the same time in ISO 8601"""
    data: FailedTaskInEvent
    """the task, as `GET /v1/tasks/{task_id}` shows it; a body of more than 20 kB leaves out `input`, then `metadata`"""


class TaskFilter(TypedDict, total=False):
    status: TaskStatus
    """status of the task"""
    statuses: list[TaskStatus]
    """tasks with any of these statuses"""
    error_code: TaskErrorCode
    """failed tasks with this error"""
    cancelled: bool
    """true: only tasks that were cancelled; false: none of them"""
    search: str
    """words that are all in the prompt, in any case, at most 8"""
    kind: MediaKind
    """kind of output"""
    model: str
    """id of the model"""
    batch_id: str
    """id of the batch that the task is an item of"""
    created_after: int
    """created after this time, unix seconds"""
    created_before: int
    """created before this time, unix seconds"""
    source: TaskSource
    """the interface through which the task was created"""
    parent_task_id: str
    """id of the task that the task was made from"""
    kept: bool
    """true: only tasks that are kept; false: none of them"""
    collection: str
    """tasks that are kept in this collection, or have an output in it"""
    metadata: dict[str, str]
    """key-value pairs that the task carries; in a query string `metadata[key]=value`"""


class TaskList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[Task]
    """the tasks, newest first unless the request says otherwise"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class TaskMoment(TypedDict):
    at_ms: int
    """unix milliseconds"""
    type: TaskMomentType
    """what happened"""
    attempt: int
    """number of the attempt; 0 before the first start"""
    provider: str | None
    """the provider; null if none took part, or if the operator hides it"""
    detail: str | None
    """the limit that holds the task, or the code of the error"""


class _TaskOutputRequired(TypedDict):
    id: str
    """identifier of the file"""
    index: int
    """position among the outputs, from 0"""
    type: MediaKind
    """kind of file"""
    url: str | None
    """signed link to the file, which works without the API key; null once the file is deleted"""
    url_expires_at: int | None
    """unix seconds; read the task again for a new link"""
    content_type: str
    """media type"""
    size_bytes: int
    """bytes"""
    width: int
    """pixels"""
    height: int
    """pixels"""
    sha256: str
    """SHA-256 of the bytes, hex"""
    seed: int | None
    """the seed that the provider was sent; null when it was sent none"""
    kept: bool
    """whether its owner keeps it: it is not deleted when its retention ends"""
    collection: str | None
    """the name under which it is kept"""


class TaskOutput(_TaskOutputRequired, total=False):
    duration: float
    """seconds; videos only"""


class TaskPlaces(TypedDict):
    total: int
    """most tasks at once, without those that only poll"""
    busy: int
    """tasks that run, with those that only poll"""


class TaskRates(TypedDict):
    created: int
    """tasks that were created"""
    started: int
    """tasks that started"""
    succeeded: int
    """tasks that succeeded"""
    failed: int
    """tasks that failed, without cancels and refused content"""
    ended: int
    """tasks that ended in any way"""


class TaskResult(TypedDict):
    outputs: list[TaskOutput]
    """the files, in order"""
    expires_at: int | None
    """unix seconds; the files that are not kept are deleted at this time; null when all are kept"""


class TaskTimeline(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[TaskMoment]
    """oldest first, at most 200; if there were more, those in the middle are missing"""
    has_more: bool
    """always false"""


class TaskUsage(TypedDict):
    images: int
    """images delivered"""
    video_seconds: int
    """whole seconds of video delivered"""
    resolution: str | None
    """as resolved"""
    quality: str | None
    """as resolved; null for a model without it"""
    provider: str | None
    """the provider that served the task; null if none did, or if the operator hides it"""
    submits: int
    """paid calls made for the task"""
    tokens: TokenUsage | None
    """null when the provider reported none"""
    cost: Cost
    """by the prices that were in force at the paid call"""


class TasksChanged(TypedDict):
    object: Literal["tasks_changed"]
    """always \"tasks_changed\""""
    matched: int
    """tasks that the filter selected, 10,000 at most"""
    changed: int
    """tasks that the act changed; the others had ended or changed before"""


class TokenUsage(TypedDict):
    input: int
    """tokens of the request"""
    output: int
    """tokens of the answer"""


class TroubledEndpoint(TypedDict):
    id: str
    """identifier"""
    api_key_id: str
    """the API key that owns it"""
    host: str
    """host of its URL, which may hold a secret"""
    status: WebhookEndpointStatus
    """whether the service sends it events"""
    disabled_reason: WebhookDisabledReason | None
    """why the service disabled it"""
    failing_since: int | None
    """unix seconds of the first failure since the last success"""
    undelivered: int
    """events that it has not accepted, counted up to 10,000"""
    oldest_due_at: int | None
    """unix seconds at which the next attempt is due"""
    last_attempted_at: int | None
    """unix seconds"""
    last_status_code: int | None
    """status of the last response; null: none arrived"""
    last_error: WebhookDeliveryError | None
    """why the last attempt failed"""


class UpdateApiKeyInput(TypedDict, total=False):
    name: str
    """a name for people"""
    scopes: list[ApiKeyScope]
    """everything that the key may do"""
    expires_at: int | None
    """unix seconds, in the future; null: the key never expires"""
    limits: ApiKeyLimitChangesInput | None
    """changes to the limits; null: the configured ones apply to all"""
    models: list[str] | None
    """ids of the models that it may use, exact or ending in *; null: every open one. Accepted tasks run on"""


class UpdateWebhookEndpointInput(TypedDict, total=False):
    url: str
    """the URL that receives events: https, a public address"""
    events: list[WebhookEventType]
    """the events to receive"""
    description: str
    """a note for people"""
    status: WebhookEndpointStatus
    """\"enabled\" enables a disabled endpoint again"""


class UsageBucket(TypedDict):
    object: Literal["bucket"]
    """always \"bucket\""""
    start_time: int
    """unix seconds"""
    end_time: int
    """unix seconds, exclusive"""
    results: list[UsageResult]
    """one result for each group; empty if there were no tasks"""


class UsageNumbers(TypedDict):
    tasks: int
    """final tasks: succeeded, failed and cancelled together"""
    succeeded: int
    """tasks that succeeded"""
    failed: int
    """tasks that failed, without the cancelled ones"""
    cancelled: int
    """tasks that were cancelled"""
    images: int
    """images delivered"""
    video_seconds: int
    """seconds of video delivered"""
    submits: int
    """paid calls"""
    cost_micros: int
    """micro-units of the currency, including `assumed_micros`"""
    assumed_micros: int
    """the part of the cost that is assumed: the provider may have charged it"""
    unpriced_tasks: int
    """tasks for which there is no price; they add nothing to the cost"""


class UsagePage(TypedDict):
    object: Literal["page"]
    """always \"page\""""
    currency: str
    """ISO 4217"""
    as_of: int
    """unix seconds up to which tasks are included"""
    data: list[UsageBucket]
    """all buckets of the page in order, also those without tasks"""
    totals: UsageNumbers
    """sums over the whole range, not over the page"""
    has_more: bool
    """whether another page follows"""
    next_page: str | None
    """send it as `page` for the next page; null on the last one"""


class UsageResult(TypedDict):
    tasks: int
    """final tasks: succeeded, failed and cancelled together"""
    succeeded: int
    """tasks that succeeded"""
    failed: int
    """tasks that failed, without the cancelled ones"""
    cancelled: int
    """tasks that were cancelled"""
    images: int
    """images delivered"""
    video_seconds: int
    """seconds of video delivered"""
    submits: int
    """paid calls"""
    cost_micros: int
    """micro-units of the currency, including `assumed_micros`"""
    assumed_micros: int
    """the part of the cost that is assumed: the provider may have charged it"""
    unpriced_tasks: int
    """tasks for which there is no price; they add nothing to the cost"""
    object: Literal["usage.result"]
    """always \"usage.result\""""
    model: str | None
    """id of the model"""
    kind: str | None
    """image or video"""
    provider: str | None
    """the provider that served the tasks; null also when none did, or when the operator hides it"""
    resolution: str | None
    """as resolved"""
    source: str | None
    """by which interface the tasks were created"""
    batch_id: str | None
    """id of the batch"""
    error_code: str | None
    """why the tasks failed; null also for those that did not"""
    api_key_id: str | None
    """the API key that owns the tasks"""


class _VideoRequired(TypedDict):
    id: str
    """the id of the task"""
    object: Literal["video"]
    """always \"video\""""
    model: str
    """the model that makes it"""
    status: OpenaiVideoStatus
    """status of the video"""
    progress: int
    """percent"""
    created_at: int
    """unix seconds"""
    completed_at: int | None
    """unix seconds; null while unfinished"""
    expires_at: int | None
    """unix seconds at which the file is deleted; null without a file"""
    prompt: str
    """as given"""
    seconds: str
    """length in seconds"""
    size: str
    """width x height in pixels"""
    remixed_from_video_id: str | None
    """the video whose input this one was made from"""
    error: VideoError | None
    """why it failed; null unless it did"""


class Video(_VideoRequired, total=False):
    approximations: list[TaskApproximation]
    """requested values that could only be approximated"""


class VideoError(TypedDict):
    code: str
    """reason, for programs"""
    message: str
    """reason, for people"""


class VideoList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[Video]
    """the videos"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class WebhookAttempts(TypedDict):
    outcome: str
    """the outcome: delivered, failed, lost and others, as in the metric"""
    error: str | None
    """why they failed; null unless they did"""
    count: int
    """attempts"""


class WebhookDelivery(TypedDict):
    id: str
    """identifier"""
    object: Literal["webhook_delivery"]
    """always \"webhook_delivery\""""
    endpoint_id: str
    """identifier of the endpoint"""
    task_id: str | None
    """the task that the event is about; null for one about no task"""
    event_id: str
    """identifier of the event, sent to the receiver as `webhook-id`"""
    event_type: WebhookDeliveryEventType
    """type of the event"""
    url: str | None
    """the address as it was called; null for an attempt of an earlier release"""
    request_headers: dict[str, Any] | None
    """the headers of the request, without the signature; null for an attempt of an earlier release, and for one that could not be signed"""
    attempt: int
    """1 for the first attempt of this event"""
    trigger: WebhookDeliveryTrigger
    """why the attempt was made"""
    attempted_at: int | None
    """unix seconds"""
    duration_ms: int | None
    """milliseconds"""
    status_code: int | None
    """HTTP status of the response; null if none arrived"""
    error: WebhookDeliveryError | None
    """null on success"""
    next_attempt_at: int | None
    """when the next attempt was to be made, unix seconds; null: there was none"""
    response_snippet: str | None
    """the first 4 kB of the response; empty if it had no body. null: the body broke off, or OUTBOUND_ALLOW_CIDRS excepts the address"""


class WebhookDeliveryList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[WebhookDelivery]
    """newest first"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class _WebhookEndpointRequired(TypedDict):
    id: str
    """identifier"""
    object: Literal["webhook_endpoint"]
    """always \"webhook_endpoint\""""
    url: str
    """the URL that receives events"""
    events: list[WebhookEventType]
    """the events it receives"""
    description: str
    """a note for people"""
    status: WebhookEndpointStatus
    """whether the service sends it events"""
    disabled_reason: WebhookDisabledReason | None
    """why the service disabled it; null if the service did not"""
    failing_since: int | None
    """unix seconds of the first failure since the last success; null while it works"""
    secret_hint: str
    """the last characters of the current secret, to recognise it"""
    old_secret_until: int | None
    """unix seconds until which the secret before the last rotation signs too; null: it does not"""
    created_at: int
    """unix seconds"""


class WebhookEndpoint(_WebhookEndpointRequired, total=False):
    secret: str
    """the signing secret; only in the response to creation or rotation"""


class WebhookEndpointList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[WebhookEndpoint]
    """newest first"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class WebhookEvent(TypedDict):
    id: str
    """identifier"""
    object: Literal["event"]
    """always \"event\""""
    type: WebhookDeliveryEventType
    """type of the event"""
    created_at: int
    """unix seconds"""
    endpoints: int
    """number of endpoints that receive it"""


class WebhookHour(TypedDict):
    hour: int
    """start of the hour, unix seconds"""
    accepted: int
    """attempts that were accepted"""
    refused: int
    """attempts that were not"""


class WebhookRecovery(TypedDict):
    events: int
    """number of events queued for another attempt"""


class WebhookReplay(TypedDict):
    id: str
    """identifier"""
    object: Literal["webhook_replay"]
    """always \"webhook_replay\""""
    status: WebhookReplayStatus
    """how far it is"""
    since: int
    """events created from this time on, unix seconds"""
    until: int
    """exclusive, unix seconds"""
    endpoint_id: str | None
    """only to this endpoint; null: to all"""
    api_key_id: str | None
    """only events of this API key; null: of all"""
    events: WebhookReplayEvents
    """which events"""
    total: int
    """deliveries to send, as counted at its start"""
    queued: int
    """deliveries queued so far, 100 a second at most"""
    created_at: int
    """unix seconds"""
    created_by: str | None
    """the API key that started it; null: the command line"""
    ended_at: int | None
    """unix seconds; null while it runs"""


class WebhookReplayList(TypedDict):
    object: Literal["list"]
    """always \"list\""""
    data: list[WebhookReplay]
    """newest first"""
    has_more: bool
    """whether an older page follows"""
    first_id: str | None
    """id of the first entry; null in an empty list"""
    last_id: str | None
    """id of the last entry; send it as `after` for the next page; null in an empty list"""


class WebhookTest(TypedDict):
    event_id: str
    """identifier of the test event"""


class WebhookTestEvent(TypedDict):
    id: str
    """identifier, the same at every attempt"""
    object: Literal["event"]
    """always \"event\""""
    type: Literal["webhook.test"]
    """always \"webhook.test\""""
    created_at: int
    """unix seconds"""
    timestamp: str
    """the same time in ISO 8601"""
    data: WebhookEndpoint
    """the endpoint"""


class _QueuedTaskRequired(TypedDict):
    task_id: str
    """identifier, for polling and for matching webhooks"""
    object: Literal["task"]
    """always \"task\""""
    kind: MediaKind
    """kind of output"""
    model: str
    """the requested model"""
    model_version: str | None
    """the version of the model that the task runs under; null in old tasks"""
    status: Literal["queued"]
    progress: int
    """percent; never falls while running"""
    created_at: int
    """unix seconds"""
    completed_at: int
    """unix seconds; 0 while unfinished"""
    input: dict[str, Any]
    """the parameters as resolved, defaults filled in"""
    metadata: dict[str, str]
    """as given at creation"""
    started_at: int
    """unix seconds; 0 while queued"""
    expires_at: int | None
    """unix seconds; the task is deleted at this time; null while it is kept"""
    source: TaskSource
    """the interface through which the task was created; \"api\" is REST and GraphQL"""
    priority: TaskPriority
    """a task of low priority waits behind those of normal priority"""
    parent_task_id: str | None
    """the task that this one was made from; it may have been deleted since"""
    relation: TaskRelation | None
    """what the task is to its parent"""
    batch: TaskBatch | None
    """its place in the batch that it was created in"""
    kept: bool
    """whether its owner keeps it, or one of its outputs: it is not deleted when its retention ends"""
    collection: str | None
    """the name under which the task is kept"""


class QueuedTask(_QueuedTaskRequired, total=False):
    approximations: list[TaskApproximation]
    """requested values that the provider could only approximate"""


class _RunningTaskRequired(TypedDict):
    task_id: str
    """identifier, for polling and for matching webhooks"""
    object: Literal["task"]
    """always \"task\""""
    kind: MediaKind
    """kind of output"""
    model: str
    """the requested model"""
    model_version: str | None
    """the version of the model that the task runs under; null in old tasks"""
    status: Literal["running"]
    progress: int
    """percent; never falls while running"""
    created_at: int
    """unix seconds"""
    completed_at: int
    """unix seconds; 0 while unfinished"""
    input: dict[str, Any]
    """the parameters as resolved, defaults filled in"""
    metadata: dict[str, str]
    """as given at creation"""
    started_at: int
    """unix seconds; 0 while queued"""
    expires_at: int | None
    """unix seconds; the task is deleted at this time; null while it is kept"""
    source: TaskSource
    """the interface through which the task was created; \"api\" is REST and GraphQL"""
    priority: TaskPriority
    """a task of low priority waits behind those of normal priority"""
    parent_task_id: str | None
    """the task that this one was made from; it may have been deleted since"""
    relation: TaskRelation | None
    """what the task is to its parent"""
    batch: TaskBatch | None
    """its place in the batch that it was created in"""
    kept: bool
    """whether its owner keeps it, or one of its outputs: it is not deleted when its retention ends"""
    collection: str | None
    """the name under which the task is kept"""


class RunningTask(_RunningTaskRequired, total=False):
    approximations: list[TaskApproximation]
    """requested values that the provider could only approximate"""


class _SucceededTaskRequired(TypedDict):
    task_id: str
    """identifier, for polling and for matching webhooks"""
    object: Literal["task"]
    """always \"task\""""
    kind: MediaKind
    """kind of output"""
    model: str
    """the requested model"""
    model_version: str | None
    """the version of the model that the task runs under; null in old tasks"""
    status: Literal["succeeded"]
    progress: int
    """percent; never falls while running"""
    created_at: int
    """unix seconds"""
    completed_at: int
    """unix seconds; 0 while unfinished"""
    result: TaskResult
    """only on a succeeded task"""
    input: dict[str, Any]
    """the parameters as resolved, defaults filled in"""
    metadata: dict[str, str]
    """as given at creation"""
    started_at: int
    """unix seconds; 0 while queued"""
    expires_at: int | None
    """unix seconds; the task is deleted at this time; null while it is kept"""
    source: TaskSource
    """the interface through which the task was created; \"api\" is REST and GraphQL"""
    priority: TaskPriority
    """a task of low priority waits behind those of normal priority"""
    parent_task_id: str | None
    """the task that this one was made from; it may have been deleted since"""
    relation: TaskRelation | None
    """what the task is to its parent"""
    batch: TaskBatch | None
    """its place in the batch that it was created in"""
    usage: TaskUsage
    """what the task used and cost; only on a final task"""
    kept: bool
    """whether its owner keeps it, or one of its outputs: it is not deleted when its retention ends"""
    collection: str | None
    """the name under which the task is kept"""


class SucceededTask(_SucceededTaskRequired, total=False):
    approximations: list[TaskApproximation]
    """requested values that the provider could only approximate"""


class _FailedTaskRequired(TypedDict):
    task_id: str
    """identifier, for polling and for matching webhooks"""
    object: Literal["task"]
    """always \"task\""""
    kind: MediaKind
    """kind of output"""
    model: str
    """the requested model"""
    model_version: str | None
    """the version of the model that the task runs under; null in old tasks"""
    status: Literal["failed"]
    progress: int
    """percent; never falls while running"""
    created_at: int
    """unix seconds"""
    completed_at: int
    """unix seconds; 0 while unfinished"""
    error: TaskError
    """only on a failed task"""
    input: dict[str, Any]
    """the parameters as resolved, defaults filled in"""
    metadata: dict[str, str]
    """as given at creation"""
    started_at: int
    """unix seconds; 0 while queued"""
    expires_at: int | None
    """unix seconds; the task is deleted at this time; null while it is kept"""
    source: TaskSource
    """the interface through which the task was created; \"api\" is REST and GraphQL"""
    priority: TaskPriority
    """a task of low priority waits behind those of normal priority"""
    parent_task_id: str | None
    """the task that this one was made from; it may have been deleted since"""
    relation: TaskRelation | None
    """what the task is to its parent"""
    batch: TaskBatch | None
    """its place in the batch that it was created in"""
    usage: TaskUsage
    """what the task used and cost; only on a final task"""
    kept: bool
    """whether its owner keeps it, or one of its outputs: it is not deleted when its retention ends"""
    collection: str | None
    """the name under which the task is kept"""


class FailedTask(_FailedTaskRequired, total=False):
    approximations: list[TaskApproximation]
    """requested values that the provider could only approximate"""


class _SucceededTaskInEventRequired(TypedDict):
    task_id: str
    """identifier, for polling and for matching webhooks"""
    object: Literal["task"]
    """always \"task\""""
    kind: MediaKind
    """kind of output"""
    model: str
    """the requested model"""
    model_version: str | None
    """the version of the model that the task runs under; null in old tasks"""
    status: Literal["succeeded"]
    progress: int
    """percent; never falls while running"""
    created_at: int
    """unix seconds"""
    completed_at: int
    """unix seconds; 0 while unfinished"""
    result: TaskResult
    """only on a succeeded task"""
    started_at: int
    """unix seconds; 0 while queued"""
    expires_at: int | None
    """unix seconds; the task is deleted at this time; null while it is kept"""
    source: TaskSource
    """the interface through which the task was created; \"api\" is REST and GraphQL"""
    priority: TaskPriority
    """a task of low priority waits behind those of normal priority"""
    parent_task_id: str | None
    """the task that this one was made from; it may have been deleted since"""
    relation: TaskRelation | None
    """what the task is to its parent"""
    batch: TaskBatch | None
    """its place in the batch that it was created in"""
    usage: TaskUsage
    """what the task used and cost; only on a final task"""
    kept: bool
    """whether its owner keeps it, or one of its outputs: it is not deleted when its retention ends"""
    collection: str | None
    """the name under which the task is kept"""


class SucceededTaskInEvent(_SucceededTaskInEventRequired, total=False):
    input: dict[str, Any]
    """the parameters as resolved, defaults filled in"""
    metadata: dict[str, str]
    """as given at creation"""
    approximations: list[TaskApproximation]
    """requested values that the provider could only approximate"""


class _FailedTaskInEventRequired(TypedDict):
    task_id: str
    """identifier, for polling and for matching webhooks"""
    object: Literal["task"]
    """always \"task\""""
    kind: MediaKind
    """kind of output"""
    model: str
    """the requested model"""
    model_version: str | None
    """the version of the model that the task runs under; null in old tasks"""
    status: Literal["failed"]
    progress: int
    """percent; never falls while running"""
    created_at: int
    """unix seconds"""
    completed_at: int
    """unix seconds; 0 while unfinished"""
    error: TaskError
    """only on a failed task"""
    started_at: int
    """unix seconds; 0 while queued"""
    expires_at: int | None
    """unix seconds; the task is deleted at this time; null while it is kept"""
    source: TaskSource
    """the interface through which the task was created; \"api\" is REST and GraphQL"""
    priority: TaskPriority
    """a task of low priority waits behind those of normal priority"""
    parent_task_id: str | None
    """the task that this one was made from; it may have been deleted since"""
    relation: TaskRelation | None
    """what the task is to its parent"""
    batch: TaskBatch | None
    """its place in the batch that it was created in"""
    usage: TaskUsage
    """what the task used and cost; only on a final task"""
    kept: bool
    """whether its owner keeps it, or one of its outputs: it is not deleted when its retention ends"""
    collection: str | None
    """the name under which the task is kept"""


class FailedTaskInEvent(_FailedTaskInEventRequired, total=False):
    input: dict[str, Any]
    """the parameters as resolved, defaults filled in"""
    metadata: dict[str, str]
    """as given at creation"""
    approximations: list[TaskApproximation]
    """requested values that the provider could only approximate"""


class ErrorResponse(TypedDict):
    error: dict[str, Any]


GenerationRequest = Union[GptImage2Request, NanoBanana2Request, NanoBananaProRequest, Sora2Request, Seedance2Request, DeclaredModelRequest]
Task = Union[QueuedTask, RunningTask, SucceededTask, FailedTask]
