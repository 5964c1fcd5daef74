import type { Abstract, INestApplicationContext, Type } from '@nestjs/common';
import { ApiKeyViews } from '../../auth/api-keys/api-key-views.ts';
import type { ApiKey } from '../../auth/api-keys/api-key.entity.ts';
import { toAuditEventView } from '../../auth/audit/audit-event.view.ts';
import { AuditLog } from '../../auth/audit/audit-log.ts';
import { BatchViews } from '../../batches/record/batch-views.ts';
import { BatchesService } from '../../batches/read/batches.service.ts';
import { ApiError } from '../../errors/api-error.ts';
import { toFileView } from '../../files/record/file.view.ts';
import { FilesService } from '../../files/uploads/files.service.ts';
import { DAY_S, unixSeconds } from '../../platform/schema/time.ts';
import { FileLinks } from '../../tasks/read/file-links.ts';
import { TaskViews } from '../../tasks/read/task-views.ts';
import { TasksService } from '../../tasks/acts/tasks.service.ts';
import { UsageService } from '../../usage/usage.service.ts';
import { toDeliveryView } from '../../webhooks/deliveries/delivery.view.ts';
import { DeliveriesService } from '../../webhooks/deliveries/deliveries.service.ts';
import { toEndpointView } from '../../webhooks/endpoints/endpoint.view.ts';
import { EndpointsService } from '../../webhooks/endpoints/endpoints.service.ts';
import { EventsOfKey } from '../../webhooks/events/events-of-key.ts';
import { toStoredEventView } from '../../webhooks/events/stored-event.view.ts';
import { pages } from './pages.ts';

/** Entries per page: the most that the API returns. */
const PAGE = 100;
const USAGE_PAGE = 100;

/** One kind of the exported data of a key. Each entry is as the API shows it. */
export type Kind = (source: Source) => AsyncIterable<object>;

export interface Source {
  apiKey: ApiKey;
  usageRetentionDays: number;
  of: <Service>(type: Type<Service> | Abstract<Service>) => Service;
}

/** @param app contains the modules of the service */
export const sourceOf = (app: INestApplicationContext, apiKey: ApiKey, usageRetentionDays: number): Source => ({
  apiKey,
  usageRetentionDays,
  of: (type) => app.get(type, { strict: false }),
});

/** The kinds, by the names of their files. */
export const KINDS: Record<string, Kind> = {
  async *api_key({ apiKey, of }) {
    yield await of(ApiKeyViews).of(apiKey);
  },

  async *tasks({ apiKey, of }) {
    const page = async (after?: string) => {
      const { tasks, hasMore } = await of(TasksService).list(apiKey.id, {}, { limit: PAGE, after, order: 'asc' });
      return { items: tasks, hasMore };
    };
    for await (const task of pages(page)) yield of(TaskViews).of(task);
  },

  async *files({ apiKey, of }) {
    const page = async (after?: string) => {
      const bounds = { limit: PAGE, after, order: 'asc', withThoseOfTasks: true } as const;
      const { uploads, hasMore } = await of(FilesService).list(apiKey.id, bounds);
      return { items: uploads, hasMore };
    };
    for await (const upload of pages(page)) yield toFileView(upload, of(FileLinks));
  },

  async *batches({ apiKey, of }) {
    const page = async (after?: string) => {
      const { batches, hasMore } = await of(BatchesService).list(apiKey.id, { limit: PAGE, after });
      return { items: batches, hasMore };
    };
    for await (const batch of pages(page)) yield of(BatchViews).of(batch);
  },

  async *webhook_endpoints(source) {
    for await (const endpoint of endpointsOf(source)) yield toEndpointView(endpoint);
  },

  async *webhook_events({ apiKey, of }) {
    for await (const id of of(EventsOfKey).ids(apiKey.id)) {
      const found = await of(DeliveriesService).event(apiKey.id, id).catch(nullIfGone);
      if (found) yield toStoredEventView(found.event, found.deliveries);
    }
  },

  async *webhook_deliveries(source) {
    const { apiKey, of } = source;
    for await (const { id } of endpointsOf(source)) {
      const page = async (after?: string) => {
        const { deliveries, hasMore } = await of(DeliveriesService).list(apiKey.id, id, {
          limit: PAGE,
          ...(after !== undefined && { after }),
        });
        return { items: deliveries, hasMore };
      };
      for await (const delivery of pages(page)) yield toDeliveryView(delivery);
    }
  },

  /** Yields the usage of each day that has tasks, grouped by model. */
  async *usage({ apiKey, usageRetentionDays, of }) {
    const end_time = unixSeconds(new Date()) + 1;
    const start_time = Math.max(0, Math.floor((end_time - usageRetentionDays * DAY_S) / DAY_S) * DAY_S);
    for (let next: string | null = ''; next !== null;) {
      const query = { start_time, end_time, group_by: 'model', limit: USAGE_PAGE, ...(next !== '' && { page: next }) };
      const page = await of(UsageService).page(apiKey.id, query);
      yield* page.data.filter(({ results }) => results.length > 0);
      next = page.next_page;
    }
  },

  async *audit_events({ apiKey, of }) {
    const page = async (after?: string) => {
      const bounds = { limit: PAGE, targetId: apiKey.id, ...(after !== undefined && { after }) };
      const { events, hasMore } = await of(AuditLog).list(bounds);
      return { items: events, hasMore };
    };
    for await (const event of pages(page)) yield toAuditEventView(event);
  },
};

function endpointsOf({ apiKey, of }: Source) {
  return pages(async (after?: string) => {
    const bounds = { limit: PAGE, ...(after !== undefined && { after }) };
    const { endpoints, hasMore } = await of(EndpointsService).list(apiKey.id, bounds);
    return { items: endpoints, hasMore };
  });
}

/** null if the event has expired since its id was read. */
function nullIfGone(error: unknown): null {
  if (error instanceof ApiError && error.code === 'webhook_event_not_found') return null;
  throw error;
}
