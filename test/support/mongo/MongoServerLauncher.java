import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import io.netty.channel.Channel;
import java.util.List;
import java.util.Set;

/** Starts a server in memory on a free loopback port, prints the port, and runs until it is killed. */
public class MongoServerLauncher {

  /** The server fails at two of these that meet at one collection, where MongoDB does one after the other. */
  private static final Set<String> ONE_AT_A_TIME = Set.of("create", "createIndexes", "drop", "dropDatabase", "renameCollection");

  /** Today's drivers ask for a newer version than the library names, and greet with `hello` only. */
  static class Backend extends MemoryBackend {
    Backend() {
      version(
          new MongoVersion() {
            @Override
            public List<Integer> getVersionArray() {
              return List.of(5, 0, 0);
            }

            @Override
            public int getWireVersion() {
              return 13;
            }
          });
    }

    @Override
    public Document handleCommand(Channel channel, String database, String command, Document query) {
      if (!ONE_AT_A_TIME.contains(command)) {
        return super.handleCommand(channel, database, command.equals("hello") ? "isMaster" : command, query);
      }
      synchronized (this) {
        return super.handleCommand(channel, database, command, query);
      }
    }
  }

  public static void main(String[] arguments) {
    MongoServer server = new MongoServer(new Backend());
    server.bind("127.0.0.1", 0);
    System.out.println(server.getLocalAddress().getPort());
  }
}
