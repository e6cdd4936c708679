internal import CoreMetrics
internal import Foundation
internal import Logging
internal import OutboundHttp
internal import Synchronization

/// Sends requests of one signal to its collector. The log hears of a collector that does not take them once, and once when it does again.
final class OtlpExporter: Sendable {
    enum Outcome: Sendable, Hashable {
        case taken
        /// The collector took the request, but not all of what it holds.
        case partly(rejected: Int)
        /// It may take the same later, after this time if it says so.
        case notNow(after: Duration?)
        /// It never takes this one.
        case refused
        /// The program stops.
        case cancelled
    }

    private let signal: String
    private let url: String
    private let options: TelemetryOptions
    private let route: OutboundRoute
    private let transport: any OutboundTransport
    private let logger: Logger
    /// The collector does not take what it gets for this reason; `nil` while it does.
    private let trouble = Mutex<String?>(nil)

    /// - Parameters:
    ///   - signal: `traces` or `metrics`.
    ///   - trustAnchors: DER; empty: the system's.
    init(
        _ signal: String, to url: String, _ options: TelemetryOptions, trustAnchors: [[UInt8]], over transport: any OutboundTransport,
        logger: Logger
    ) {
        self.signal = signal
        self.url = url
        self.options = options
        self.transport = transport
        self.logger = logger
        route = OutboundRoute(
            peer: "telemetry \(signal)", trustAnchors: trustAnchors, connectTimeout: options.timeout, responseTimeout: options.timeout,
            connections: 2)
    }

    /// - Parameter timeLeft: `nil`: as the options say.
    func send(_ body: [UInt8], timeLeft: Duration? = nil) async -> Outcome {
        let headers =
            [(name: "Content-Type", value: "application/json"), (name: "Accept", value: "application/json")]
            + options.headers.map { (name: $0.name, value: $0.value) }
        let request = OutboundRequest(.post, url, headers: headers, body: body)
        do throws(OutboundFailure) {
            return note(try await transport.send(request, by: route, timeLeft: timeLeft ?? options.timeout))
        } catch {
            if error.kind == .cancelled { return .cancelled }
            note(trouble: error.cause.isEmpty ? error.kind.rawValue : "\(error.kind.rawValue): \(error.cause)", result: "failed")
            return .notNow(after: nil)
        }
    }

    private func note(_ answer: OutboundAnswer) -> Outcome {
        switch answer.status {
        case 200..<300:
            let (rejected, message) = Self.rejected(answer.body)
            guard rejected > 0 else {
                note(trouble: nil, result: "taken")
                return .taken
            }
            note(trouble: "the collector rejects a part: \(message)", result: "partly")
            return .partly(rejected: rejected)
        case 429, 502, 503, 504:
            note(trouble: "status \(answer.status)", result: "failed")
            return .notNow(after: answer.header("retry-after").flatMap { Int($0) }.map { .seconds(max(0, $0)) })
        default:
            note(trouble: "status \(answer.status)", result: "refused")
            return .refused
        }
    }

    /// `partialSuccess` of the answer, whose counts are `rejectedSpans` and `rejectedDataPoints`.
    private static func rejected(_ body: [UInt8]) -> (count: Int, message: String) {
        guard body.count > 2, let object = try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any],
            let partial = object["partialSuccess"] as? [String: Any]
        else { return (0, "") }
        let counts = ["rejectedSpans", "rejectedDataPoints"].compactMap { name in
            (partial[name] as? String).flatMap { Int($0) } ?? partial[name] as? Int
        }
        return (counts.first { $0 > 0 } ?? 0, String((partial["errorMessage"] as? String ?? "").prefix(200)))
    }

    private func note(trouble found: String?, result: String) {
        Counter(label: "boxoffice_telemetry_exports_total", dimensions: [("signal", signal), ("result", result)]).increment()
        let before = trouble.withLock { trouble in
            defer { trouble = found }
            return trouble
        }
        switch (before, found) {
        case (nil, let reason?):
            logger.warning("telemetry.not_taken", metadata: ["signal": "\(signal)", "collector": "\(url)", "reason": "\(reason)"])
        case (.some, nil): logger.notice("telemetry.taken_again", metadata: ["signal": "\(signal)", "collector": "\(url)"])
        default: break
        }
    }
}
