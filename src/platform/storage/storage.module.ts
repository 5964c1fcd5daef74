import { join } from 'node:path';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Config } from '../config/config.ts';
import { DiskStorage } from './disk.storage.ts';
import { MeasuredStorage } from './measured.storage.ts';
import { S3Storage } from './s3.storage.ts';
import { StorageCheck } from './storage-check.ts';
import { StorageMarker } from './storage-marker.entity.ts';
import { Storage } from './storage.ts';

export async function openStorage({ storageUrl, dataDir }: Pick<Config, 'storageUrl' | 'dataDir'>): Promise<Storage> {
  return storageUrl ? S3Storage.connect(storageUrl) : new DiskStorage(join(dataDir, 'files'));
}

const openMeasured = async (config: Config): Promise<Storage> =>
  new MeasuredStorage(await openStorage(config), config.storageUrl ? 's3' : 'disk');

@Module({
  imports: [TypeOrmModule.forFeature([StorageMarker])],
  providers: [StorageCheck, { provide: Storage, inject: [Config], useFactory: openMeasured }],
  exports: [Storage],
})
export class StorageModule {}
