import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { DeliveryFilters } from './delivery-filters.tsx';
import { DeliveryLog } from './delivery-log.tsx';
import { type DeliverySearch, isFiltered } from './delivery-search.ts';
import { useDeliveries } from './use-deliveries.ts';
import { useResend } from './use-resend.ts';

interface Props {
  endpointId: string;
  /** Whether the endpoint is enabled. A disabled one receives only test events. */
  enabled: boolean;
  search: DeliverySearch;
  onSearch(search: DeliverySearch, isTyping?: boolean): void;
}

export function EndpointLog({ endpointId, enabled, search, onSearch }: Props) {
  const { deliveries, error, hasMore, more, reload } = useDeliveries(endpointId, search);
  const resend = useResend(() => void reload());
  return (
    <>
      <DeliveryFilters search={search} onSearch={onSearch} />
      {error && <ErrorPanel error={error} onRetry={() => void reload()} />}
      {!deliveries && !error && <Skeleton height={200} />}
      {deliveries?.length === 0 &&
        (isFiltered(search) ? (
          <EmptyState
            title="No attempt matches these filters"
            action={<Button onClick={() => onSearch({})}>Clear the filters</Button>}
          />
        ) : (
          <EmptyState title="Nothing was sent yet">Send a test, or make something.</EmptyState>
        ))}
      {deliveries && deliveries.length > 0 && (
        <DeliveryLog deliveries={deliveries} mayResend={enabled} onResend={(id) => void resend(id, endpointId)} />
      )}
      {hasMore && <Button onClick={() => void more()}>Show older attempts</Button>}
    </>
  );
}
