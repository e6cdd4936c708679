internal import Foundation
public import PrivatePostgres
public import StoragePostgres
internal import Synchronization
public import Testing

/// A PostgreSQL server for tests: in memory where there is room, gone with the process.
public final class PostgresServer: Sendable {
    private static let first = Result { try PostgresServer() }
    public static let absence: Comment = "PostgreSQL is not installed (Debian: postgresql)"

    /// True when one can be started; tests that need one say that they skip where not.
    public static var isHere: Bool { PrivatePostgres.installed != nil }
    /// That of this test process, started when the first test wants it.
    public static var shared: PostgresServer { get throws { try first.get() } }

    public let server: PrivatePostgres
    private let life: Int32
    private let schemas = Atomic(0)

    /// - Parameters:
    ///   - settings: Lines of `postgresql.conf`.
    ///   - prepare: Called before it starts.
    public init(settings: [String] = [], prepare: (PrivatePostgres) throws -> Void = { _ in }) throws {
        guard let programs = PrivatePostgres.installed else { throw PrivatePostgres.Failure(description: "\(Self.absence)") }
        server = PrivatePostgres(folder: Self.folder(), port: Self.freePort(), programs: programs)
        try server.make(
            settings: ["shared_buffers = 32MB", "max_connections = 500", "wal_level = minimal", "max_wal_senders = 0"] + settings,
            access: .ownerAsAnyRole)
        life = try server.endWithThisProcess()
        try prepare(server)
        try server.start()
    }

    deinit { close(life) }

    /// The server's owner in a schema that nobody has, by the socket.
    public func options(schema: String? = nil) -> PostgresOptions {
        var options = PostgresOptions(
            hosts: [PostgresOptions.Host(name: server.folder.path, port: UInt16(server.port))], database: "postgres", user: "postgres")
        options.schema = schema ?? "test_\(schemas.add(1, ordering: .relaxed).newValue)"
        (options.readConnections, options.writeConnections, options.interactive) = (1, 1, 4)
        return options
    }

    private static func folder() -> URL {
        let name = "boxoffice-postgres-\(UUID().uuidString.prefix(8))"
        let memory = URL(fileURLWithPath: "/dev/shm")
        let free = (try? FileManager.default.attributesOfFileSystem(forPath: memory.path))?[.systemFreeSize] as? Int ?? 0
        return (free > 1 << 30 ? memory : URL(fileURLWithPath: "/tmp")).appendingPathComponent(name)
    }

    public static func freePort() -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length)
                getsockname(descriptor, generic, &length)
            }
            return Int(UInt16(bigEndian: pointer.pointee.sin_port))
        }
    }
}
