public import Foundation
public import Storage
public import StoragePostgres

/// Where a program keeps its store, and what its schema is: what `--describe-store` prints for whoever looks after stores.
public struct StoreDescription: Codable, Sendable, Equatable {
    public struct Step: Codable, Sendable, Equatable {
        public let name: String
        public let statements: [String]
        public let isAdditive: Bool
    }

    /// A sweep of expired rows.
    public struct Sweep: Codable, Sendable, Equatable {
        public let table: String
        public let expiryColumn: String
        /// A row is kept for this long after that, in milliseconds.
        public let graceMilliseconds: Int64
    }

    /// A server is here. Files are absolute.
    public struct Server: Codable, Sendable, Equatable {
        /// Each `host:port`, or `/folder:port`.
        public var hosts: [String]
        public var database: String
        public var user: String
        public var passwordFile: String?
        public var trustAnchors: String?
        public var certificate: String?
        public var key: String?
        public var requireStandby: Bool
        /// `prefer`, or `nil`: the channel is bound to the password.
        public var channelBinding: String?

        public init(
            hosts: [String], database: String, user: String, passwordFile: String? = nil, trustAnchors: String? = nil, certificate: String? = nil,
            key: String? = nil, requireStandby: Bool = false, channelBinding: String? = nil
        ) {
            (self.hosts, self.database, self.user, self.passwordFile) = (hosts, database, user, passwordFile)
            (self.trustAnchors, self.certificate, self.key, self.requireStandby) = (trustAnchors, certificate, key, requireStandby)
            self.channelBinding = channelBinding
        }

        /// For a connection.
        public var options: PostgresOptions {
            var options = PostgresOptions(
                hosts: hosts.compactMap { PeerSettings.split($0).map { PostgresOptions.Host(name: $0.host, port: UInt16($0.port)) } },
                database: database, user: user)
            options.passwordFile = passwordFile
            options.tls = trustAnchors.map {
                PostgresOptions.Tls(trustAnchors: $0, certificate: certificate, key: key, requiresChannelBinding: channelBinding != "prefer")
            }
            options.requireStandby = requireStandby
            return options
        }
    }

    public let service: String
    /// The data folder: of keys, and of the file where there is one.
    public let data: String
    /// The file of SQLite, present or not.
    public let file: String
    /// The settings say that the rows are here; `nil`: in the file.
    public let server: Server?
    /// The schema in SQLite's words.
    public let sqlite: [Step]
    /// And in PostgreSQL's; `nil`: the service keeps no store there.
    public let postgres: [Step]?
    public let sweeps: [Sweep]

    public init(
        service: String, data: String, file: String, server: Server?, sqlite: [Migration], postgres: [Migration]?, sweeps: [Storage.Sweep]
    ) {
        (self.service, self.data, self.file, self.server) = (service, data, file, server)
        self.sqlite = sqlite.map(Step.init)
        self.postgres = postgres.map { $0.map(Step.init) }
        self.sweeps = sweeps.map {
            Sweep(table: $0.table, expiryColumn: $0.expiryColumn, graceMilliseconds: $0.grace.components.seconds * 1000)
        }
    }

    /// For an engine, in its words.
    public static func migrations(_ steps: [Step]) -> [Migration] {
        steps.map { Migration($0.name, statements: $0.statements, isAdditive: $0.isAdditive) }
    }

    /// Prints it, and ends the program.
    func printAndEnd() -> Never {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts, numbers and flags always have a form.
        StandardStream.output.writeOrEnd(((try? encoder.encode(self)) ?? Data()) + Data("\n".utf8))
        ProgramEnd.now(0)
    }
}

extension StoreDescription.Step {
    init(_ migration: Migration) { self.init(name: migration.name, statements: migration.statements, isAdditive: migration.isAdditive) }
}

extension StoreDescription.Server {
    /// - Parameter program: Whose store it is.
    init(_ settings: StorageSettings, program: String, files: SettingsFiles) {
        self.init(
            hosts: settings.hosts, database: settings.database ?? program, user: settings.user ?? program,
            passwordFile: settings.passwordFile.map(files.path), trustAnchors: settings.tls.map { files.path($0.trustAnchors) },
            certificate: settings.tls?.certificate.map(files.path), key: settings.tls?.key.map(files.path), requireStandby: settings.requireStandby,
            channelBinding: settings.tls?.channelBinding.flatMap { $0 == .prefer ? $0.rawValue : nil })
    }
}

/// Standard output and standard error, written so that a reader who has gone never becomes a crash with a back trace.
public enum StandardStream: Int32, Sendable {
    case output = 1
    case error = 2

    /// Opens `/dev/null` in place of standard streams that are closed: a socket that got their number would be written to. To be called first in a program.
    public static func occupyClosed() {
        for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) == -1 {
            // The lowest free number is the one that is looked at.
            _ = open("/dev/null", number == STDIN_FILENO ? O_RDONLY : O_WRONLY)
        }
    }

    /// Writes all of it.
    /// - Returns: The error of the system that kept it from being written; `nil` when there was none.
    @discardableResult
    public func write(_ content: Data) -> Int32? {
        content.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let count = Foundation.write(rawValue, bytes.baseAddress?.advanced(by: written), bytes.count - written)
                if count < 0, errno == EINTR { continue }
                if count < 0, errno == EAGAIN {
                    var descriptor = pollfd(fd: rawValue, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&descriptor, 1, 1000)
                    continue
                }
                guard count > 0 else { return count < 0 ? errno : EIO }
                written += count
            }
            return nil
        }
    }

    /// For commands: ends the program as the signal of a closed pipe does, quietly, when nobody reads any more.
    public func writeOrEnd(_ content: Data) {
        guard let failure = write(content) else { return }
        guard failure == EPIPE else { _exit(1) }
        signal(SIGPIPE, SIG_DFL)
        raise(SIGPIPE)
        _exit(141)
    }
}
