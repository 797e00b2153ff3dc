package nvmove.bench;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import redis.clients.jedis.Jedis;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/** Records of YCSB as hashes of Redis, one connection for each thread. No scans: no index is kept. */
public final class RedisAdapter extends DB {
  private Jedis redis;

  @Override
  public void init() throws DBException {
    redis = new Jedis("127.0.0.1", Integer.parseInt(getProperties().getProperty("redis.port")));
    redis.connect();
  }

  @Override
  public void cleanup() {
    redis.close();
  }

  @Override
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    if (fields == null) {
      StringByteIterator.putAllAsByteIterators(result, redis.hgetAll(key));
      return result.isEmpty() ? Status.NOT_FOUND : Status.OK;
    }
    String[] names = fields.toArray(new String[0]);
    List<String> values = redis.hmget(key, names);
    for (int i = 0; i < names.length; i++) {
      if (values.get(i) == null) {
        return Status.NOT_FOUND;
      }
      result.put(names[i], new StringByteIterator(values.get(i)));
    }
    return Status.OK;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return "OK".equals(redis.hmset(key, StringByteIterator.getStringMap(values))) ? Status.OK : Status.ERROR;
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    return update(table, key, values);
  }

  @Override
  public Status delete(String table, String key) {
    return redis.del(key) == 1 ? Status.OK : Status.NOT_FOUND;
  }

  @Override
  public Status scan(String table, String start, int count, Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }
}
