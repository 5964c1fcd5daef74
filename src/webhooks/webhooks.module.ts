import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Nodes } from '../auth/access/nodes.ts';
import type { Caller } from '../auth/access/caller.ts';
import { AuthModule } from '../auth/auth.module.ts';
import { OutboundModule } from '../platform/outbound/outbound.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { Attempt } from './deliveries/attempt.ts';
import { DeliverWorker } from './deliveries/deliver.worker.ts';
import { DeliveriesController } from './deliveries/deliveries.controller.ts';
import { DeliveriesResolver } from './deliveries/deliveries.resolver.ts';
import { DeliveriesService } from './deliveries/deliveries.service.ts';
import { DeliverySignal } from './deliveries/delivery-signal.ts';
import { DeliverySweep } from './deliveries/delivery-sweep.ts';
import { WebhookDelivery } from './record/webhook-delivery.entity.ts';
import { WebhookDispatch } from './record/webhook-dispatch.entity.ts';
import { EndpointStatsResolver } from './endpoints/endpoint-stats.resolver.ts';
import { TaskDeliveriesResolver } from './deliveries/task-deliveries.resolver.ts';
import { EndpointsController } from './endpoints/endpoints.controller.ts';
import { EndpointsResolver } from './endpoints/endpoints.resolver.ts';
import { toEndpointView } from './endpoints/endpoint.view.ts';
import { EndpointsService } from './endpoints/endpoints.service.ts';
import { ResealSweep } from './endpoints/reseal-sweep.ts';
import { WebhookEndpoint } from './record/webhook-endpoint.entity.ts';
import { BudgetEventsWorker } from './events/budget-events.worker.ts';
import { EventRecorder } from './events/event-recorder.ts';
import { EventsController } from './events/events.controller.ts';
import { EventsResolver } from './events/events.resolver.ts';
import { TaskEndRecorder } from './events/task-end-recorder.ts';
import { EventsOfKey } from './events/events-of-key.ts';
import { WebhookEvent } from './record/webhook-event.entity.ts';
import { ReplayWorker } from './replays/replay.worker.ts';
import { WebhookReplays } from './replays/webhook-replays.ts';
import { ReplayEvents } from './sql/replay-events.ts';
import { WebhookReplay } from './record/webhook-replay.entity.ts';
import { DeliveriesOfTasks } from './sql/deliveries-of-tasks.ts';
import { NewDeliveries } from './sql/new-deliveries.ts';
import { WatchDeliveries } from './deliveries/watch-deliveries.ts';
import { ReadEndpointStats } from './sql/endpoint-stats.ts';
import { ListDeliveries } from './sql/list-deliveries.ts';
import { EraseWebhooks } from './sql/erase-webhooks.ts';
import { PurgeEvents } from './sql/purge-events.ts';
import { FindUntaken } from './sql/find-untaken.ts';
import { UntakenDispatches } from './deliveries/untaken-dispatches.ts';
import { FinishAndClaim } from './sql/finish-and-claim.ts';
import { InsertEvents } from './sql/insert-events.ts';
import { Restoration } from './record/restoration.entity.ts';
import { RestoredWebhooks } from './replays/restored-webhooks.ts';
import { ResealSecrets } from './sql/reseal-secrets.ts';
import { ResendEvents } from './sql/resend-events.ts';
import { SweepDispatches } from './sql/sweep-dispatches.ts';
import { WebhookGauges } from './webhook-gauges.ts';

/** Sends events to the endpoints of an API key: events about its tasks, batches and budgets, and test events. */
@Module({
  imports: [
    AuthModule,
    OutboundModule,
    TasksModule,
    TypeOrmModule.forFeature([
      WebhookEndpoint,
      WebhookEvent,
      WebhookDispatch,
      WebhookDelivery,
      WebhookReplay,
      Restoration,
    ]),
  ],
  controllers: [EndpointsController, DeliveriesController, EventsController],
  providers: [
    WebhookGauges,
    Attempt,
    BudgetEventsWorker,
    DeliverWorker,
    DeliveriesResolver,
    DeliveriesService,
    DeliverySignal,
    DeliverySweep,
    EndpointStatsResolver,
    DeliveriesOfTasks,
    ListDeliveries,
    NewDeliveries,
    ReadEndpointStats,
    TaskDeliveriesResolver,
    EndpointsResolver,
    EndpointsService,
    EventRecorder,
    EventsOfKey,
    EventsResolver,
    EraseWebhooks,
    FinishAndClaim,
    InsertEvents,
    PurgeEvents,
    ResealSecrets,
    ResealSweep,
    ResendEvents,
    SweepDispatches,
    TaskEndRecorder,
    FindUntaken,
    ReplayEvents,
    ReplayWorker,
    RestoredWebhooks,
    UntakenDispatches,
    WatchDeliveries,
    WebhookReplays,
  ],
  exports: [EventRecorder, UntakenDispatches, WebhookGauges, WebhookReplays],
})
export class WebhooksModule implements OnModuleInit {
  constructor(
    private readonly nodes: Nodes,
    private readonly endpoints: EndpointsService,
  ) {}

  onModuleInit(): void {
    const find = async ({ apiKeyId }: Caller, id: string) => toEndpointView(await this.endpoints.find(apiKeyId, id));
    this.nodes.register({ prefix: 'we', name: 'WebhookEndpoint', scope: 'webhooks:manage', find });
  }
}
