import { Module } from '@nestjs/common';
import { OutboundModule } from '../platform/outbound/outbound.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { DispatchEvents } from './acts/dispatch-events.ts';
import { SendAgain } from './acts/send-again.ts';
import { SweepDispatches } from './acts/sweep-dispatches.ts';
import { TurnDeliveries } from './acts/turn-deliveries.ts';
import { Attempt } from './attempt.ts';
import { DeliveryBell } from './delivery-bell.ts';
import { DeliverWorker } from './deliver.worker.ts';
import { DeliveriesService } from './deliveries.service.ts';
import { DeliverySweep } from './delivery-sweep.ts';
import { Dispatch } from './dispatch.ts';
import { WebhookEventsController } from './webhook-events.controller.ts';
import { WebhooksController } from './webhooks.controller.ts';
import { WebhooksResolver } from './webhooks.resolver.ts';
import { WebhooksService } from './webhooks.service.ts';

/** Who is told when tasks end. */
@Module({
  imports: [OutboundModule, TasksModule],
  controllers: [WebhooksController, WebhookEventsController],
  providers: [
    DispatchEvents,
    TurnDeliveries,
    SendAgain,
    SweepDispatches,
    Attempt,
    DeliveryBell,
    DeliverWorker,
    DeliveriesService,
    DeliverySweep,
    Dispatch,
    WebhooksResolver,
    WebhooksService,
  ],
})
export class WebhooksModule {}
