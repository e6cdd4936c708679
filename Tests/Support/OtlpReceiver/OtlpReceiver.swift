internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Synchronization

/// A collector that keeps what it gets.
public final class OtlpReceiver: Sendable {
    /// A request as it came.
    public struct Received: Sendable {
        public let path: String
        public let headers: [String: String]
        public let body: [UInt8]
    }

    /// A span as OTLP has it.
    public struct Span: Sendable, Hashable {
        public let service: String
        public let trace: String
        public let id: String
        /// Empty: it is a part of none.
        public let parent: String
        public let name: String
        public let kind: Int
        /// As texts, whatever their kind.
        public let attributes: [String: String]
    }

    /// Its answer: a status, headers and a body.
    public struct Answer: Sendable {
        public var status: Int
        public var headers: [String: String]
        public var body: String

        public init(_ status: Int = 200, headers: [String: String] = [:], body: String = "{}") {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    private let received = Mutex<[Received]>([])
    private let answer = Mutex(Answer())
    private let port = Mutex<Int?>(nil)
    private let task = Mutex<Task<Void, any Error>?>(nil)

    public init() {}

    /// Listens on a free port of loopback.
    public func start() async throws {
        let router = Router()
        router.post("**") { request, _ in
            var headers: [String: String] = [:]
            for field in request.headers { headers[field.name.canonicalName] = field.value }
            let body = try await request.body.collect(upTo: 16 << 20)
            let whole = Received(path: request.uri.path, headers: headers, body: Array(body.readableBytesView))
            self.received.withLock { $0.append(whole) }
            let answer = self.answer.withLock { $0 }
            var fields: HTTPFields = [.contentType: "application/json"]
            for (name, value) in answer.headers { if let name = HTTPField.Name(name) { fields[name] = value } }
            return Response(status: .init(code: answer.status), headers: fields, body: .init(byteBuffer: ByteBuffer(string: answer.body)))
        }
        var logger = Logger(label: "receiver")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in self.port.withLock { $0 = channel.localAddress?.port } }, logger: logger)
        task.withLock { $0 = Task { try await application.run() } }
        for _ in 0..<2000 where port.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(10)) }
    }

    public func stop() async {
        let task = task.withLock { $0 }
        task?.cancel()
        _ = await task?.result
    }

    /// `http://127.0.0.1:PORT`.
    public var address: String { "http://127.0.0.1:\(port.withLock { $0 } ?? 0)" }

    public func answers(_ answer: Answer) { self.answer.withLock { $0 = answer } }

    public var requests: [Received] { received.withLock { $0 } }

    public func forget() { received.withLock { $0 = [] } }

    /// All spans that came, in the order of their coming.
    public var spans: [Span] { requests.filter { $0.path == "/v1/traces" }.flatMap { Self.spans($0.body) } }

    /// Names of all metrics that came, with the service that sent them before: `gateway boxoffice_build_info`.
    public var metrics: Set<String> { Set(requests.filter { $0.path == "/v1/metrics" }.flatMap { Self.metrics($0.body) }) }

    private static func spans(_ body: [UInt8]) -> [Span] {
        list(object(body)["resourceSpans"]).flatMap { resource -> [Span] in
            let service = service(resource)
            return list(resource["scopeSpans"]).flatMap { list($0["spans"]) }.map { span in
                Span(
                    service: service, trace: span["traceId"] as? String ?? "", id: span["spanId"] as? String ?? "",
                    parent: span["parentSpanId"] as? String ?? "", name: span["name"] as? String ?? "", kind: span["kind"] as? Int ?? 0,
                    attributes: attributes(span))
            }
        }
    }

    private static func metrics(_ body: [UInt8]) -> [String] {
        list(object(body)["resourceMetrics"]).flatMap { resource in
            list(resource["scopeMetrics"]).flatMap { list($0["metrics"]) }.map { "\(service(resource)) \($0["name"] as? String ?? "")" }
        }
    }

    private static func service(_ resource: [String: Any]) -> String {
        attributes(resource["resource"] as? [String: Any] ?? [:])["service.name"] ?? ""
    }

    private static func attributes(_ owner: [String: Any]) -> [String: String] {
        list(owner["attributes"]).reduce(into: [:]) { all, pair in
            let value = (pair["value"] as? [String: Any])?.values.first
            all[pair["key"] as? String ?? ""] = value.map { "\($0)" }
        }
    }

    private static func object(_ body: [UInt8]) -> [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]) ?? [:]
    }

    private static func list(_ value: Any?) -> [[String: Any]] { value as? [[String: Any]] ?? [] }
}
