import Foundation

/// nginx in front of nginx, set up as a cluster's gateway and the service behind it. They speak plain HTTP on the loopback device, keep connections,
/// and write a line in the log of each for each call.
struct NginxPair {
    static let status = 403
    /// As long as what the gateway says to a device that nobody has signed in.
    private static let body = #"{"status":403,"message":"User not authenticated","details":null}"#
    private static let program = "/usr/sbin/nginx"

    let port: Int
    private let front: ChildProgram
    private let back: ChildProgram

    var processes: [String: Int32] { ["front": front.processID, "back": back.processID] }

    /// - Parameters:
    ///   - folder: For its settings and logs.
    ///   - port: Its own; the next one is that of the nginx behind it.
    init(folder: URL, port: Int) throws {
        self.port = port
        back = try Self.start(
            "back", in: folder, port: port + 1, location: "default_type application/json; return \(Self.status) '\(Self.body)';")
        front = try Self.start(
            "front", in: folder, port: port,
            location: #"proxy_pass http://back; proxy_http_version 1.1; proxy_set_header Connection "";"#,
            upstream: "upstream back { server 127.0.0.1:\(port + 1); keepalive 64; keepalive_requests 1000000000; }")
        for port in [port + 1, port] { try Self.wait(port) }
    }

    func stop() {
        front.stop()
        back.stop()
    }

    /// One process each: its only worker.
    private static func start(_ name: String, in folder: URL, port: Int, location: String, upstream: String = "") throws -> ChildProgram {
        let base = folder.appending(path: name).path
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map { "\($0)_temp_path \(base).\($0);" }
        let settings = """
            daemon off; master_process off; worker_processes 1; pid \(base).pid; error_log \(base).errors;
            events { worker_connections 1024; }
            http {
              access_log \(base).log; keepalive_requests 1000000000; \(temporary.joined(separator: " "))
              \(upstream)
              server { listen 127.0.0.1:\(port); location / { \(location) } }
            }
            """
        try Data(settings.utf8).write(to: URL(filePath: base + ".conf"))
        return try ChildProgram(program, ["-p", folder.path, "-e", base + ".errors", "-c", base + ".conf"])
    }

    private static func wait(_ port: Int) throws {
        for _ in 0..<1000 {
            if isListening(port) { return }
            usleep(10_000)
        }
        throw BenchmarkFailure("nginx did not start")
    }

    private static func isListening(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        return withUnsafePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
        }
    }
}
