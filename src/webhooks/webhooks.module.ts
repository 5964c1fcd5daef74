import { Module } from '@nestjs/common';
import { OutboundModule } from '../platform/outbound/outbound.module.ts';
import { TasksModule } from '../tasks/tasks.module.ts';
import { ClaimDispatches } from './acts/claim-dispatches.ts';
import { DispatchEvents } from './acts/dispatch-events.ts';
import { FinishDeliveries } from './acts/finish-deliveries.ts';
import { SendAgain } from './acts/send-again.ts';
import { SweepDispatches } from './acts/sweep-dispatches.ts';
import { Attempt } from './attempt.ts';
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
    ClaimDispatches,
    DispatchEvents,
    FinishDeliveries,
    SendAgain,
    SweepDispatches,
    Attempt,
    DeliverWorker,
    DeliveriesService,
    DeliverySweep,
    Dispatch,
    WebhooksResolver,
    WebhooksService,
  ],
})
export class WebhooksModule {}
