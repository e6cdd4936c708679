internal import Synchronization

/// Connects to the first of the servers that takes writes. The order is that of the settings, but the one that took the last heartbeat is first, and
/// those that gave no answer are last.
///
/// One thread at a time asks them. When a server dies, every connection of every copy is lost in the same moment; if each were tried anew, the handshakes with the
/// standbys that are left would keep all processors busy, and callers would wait for their refusal. Once one of them has a connection, those that waited connect at once.
final class ServerChoice: Sendable {
    private let options: PostgresOptions
    private let program: String
    private let order: Mutex<[PostgresOptions.Host]>
    /// The last try of a thread that asked for all: its end, and why it failed. Held while a thread asks.
    private let lastTry = Mutex<(ended: ContinuousClock.Instant, failure: (any Error)?)?>(nil)

    /// - Parameter program: How operators of the server see it.
    init(_ options: PostgresOptions, program: String) {
        self.options = options
        self.program = program
        order = Mutex(options.hosts)
    }

    var areSeveral: Bool { options.hosts.count > 1 }
    var user: String { options.user }

    /// Blocks until there is a connection.
    /// - Parameter part: The part of the program, for operators of the server.
    /// - Throws: `PostgresError` saying what is wrong with each host. A try of another thread that ended badly meanwhile counts for this one too.
    func connect(part: String? = nil) throws -> PostgresConnection {
        let arrival = ContinuousClock.now
        let connection: PostgresConnection? = try lastTry.withLock { lastTry in
            if let lastTry, lastTry.ended > arrival {
                if let failure = lastTry.failure { throw failure }
                return nil
            }
            do {
                let connection = try open(part)
                lastTry = (.now, nil)
                return connection
            } catch {
                lastTry = (.now, error)
                throw error
            }
        }
        return try connection ?? open(part)
    }

    private func open(_ part: String?) throws -> PostgresConnection {
        var options = options
        options.hosts = order.withLock { $0 }
        return try PostgresConnection.open(options, program: part.map { "\(program)-\($0)" } ?? program) { silent($0) }
    }

    /// The host took a heartbeat: that is where everybody is to be.
    func alive(_ host: PostgresOptions.Host) {
        order.withLock { order in
            guard order.first != host, let index = order.firstIndex(of: host) else { return }
            order.insert(order.remove(at: index), at: 0)
        }
    }

    /// The host gives no answer, or commits nothing: another one may have taken its place.
    func silent(_ host: PostgresOptions.Host) {
        order.withLock { order in
            guard order.count > 1, let index = order.firstIndex(of: host) else { return }
            order.append(order.remove(at: index))
        }
    }
}
