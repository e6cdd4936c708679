import Foundation
import PostgresServer
import PrivatePostgres
import Testing

/// The users who may enter a cluster's own server.
@Suite("A private server", .enabled(if: PostgresServer.isHere && getuid() == 0, "needs root and PostgreSQL (Debian: postgresql)"))
struct PrivateServerTests {
    @Test("another user of the machine may not enter it, also one that an earlier release left open, while it runs; its passwords stay")
    func closed() async throws {
        try await offThread {
            let life = try PostgresServer(prepare: { server in
                // As the release before wrote it.
                let rows = server.folder.appendingPathComponent("data")
                let rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
                try Data(rules.utf8).write(to: rows.appendingPathComponent("pg_hba.conf"))
                let settings = rows.appendingPathComponent("postgresql.conf")
                let text = try String(contentsOf: settings, encoding: .utf8)
                try Data(text.replacing("unix_socket_permissions = 0700\n", with: "").utf8).write(to: settings)
                try FileManager.default.setAttributes([.posixPermissions: 0o711], ofItemAtPath: server.folder.path)
            })
            defer { withExtendedLifetime(life) {} }
            let server = life.server
            try server.run(sql: "CREATE ROLE housed LOGIN PASSWORD 'right'")
            #expect(Self.enters(server, as: "nobody", "postgres"), "it was open")
            try server.make()
            #expect(!Self.enters(server, as: "nobody", "postgres") && !Self.enters(server, as: "nobody", "housed"))
            #expect(Self.enters(server, as: "postgres", "postgres") && Self.enters(server, as: "root", "postgres"))
            #expect(!Self.enters(server, as: "postgres", "housed"), "by the socket nobody is another role")
            #expect(Self.enters(server, as: "nobody", "housed", host: "127.0.0.1", password: "right"))
            #expect(!Self.enters(server, as: "nobody", "housed", host: "127.0.0.1", password: "wrong"))
            #expect(!Self.enters(server, as: "nobody", "postgres", host: "127.0.0.1"))
            try server.run(sql: "SELECT 1")
            // As strictly after it was started again.
            try server.stop()
            try server.start()
            let modes = try [server.folder.path, server.folder.path + "/.s.PGSQL.\(server.port)"].map {
                try FileManager.default.attributesOfItem(atPath: $0)[.posixPermissions] as? Int
            }
            #expect(modes == [0o700, 0o700] && !Self.enters(server, as: "nobody", "postgres"))
        }
    }

    private static func enters(_ server: PrivatePostgres, as user: String, _ role: String, host: String? = nil, password: String = "") -> Bool {
        guard let programs = PrivatePostgres.installed else { return false }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/setpriv")
        process.arguments = [
            "--reuid=\(user)", "--regid=\(user == "nobody" ? "nogroup" : user)", "--clear-groups", programs.appendingPathComponent("psql").path, "-h",
            host ?? server.folder.path, "-p", "\(server.port)", "-U", role, "-d", "postgres", "-w", "-X", "-q", "-c", "SELECT 1",
        ]
        process.environment = ["PGPASSWORD": password, "LC_ALL": "C"]
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
