import Frames

/// The golden frames as bytes and as the values that they encode.
enum GoldenFrames {
    struct NotHex: Error {}

    static let values: [(name: String, kind: Frame.Kind)] = [
        ("hello-caller", .hello(Hello(protocolVersion: 1, software: "peer.py", softwareVersion: "1", maxFrameBytes: 4_194_304))),
        (
            "hello-callee",
            .hello(
                Hello(
                    protocolVersion: 1, software: "config", softwareVersion: "1.0", maxFrameBytes: 4_194_304, maxCallsInFlight: 1024,
                    idleTimeoutMilliseconds: 300_000, services: ["boxoffice.config.v1.Config", "boxoffice.platform.v1.Health"]))
        ),
        ("request", .request(Request(callID: 1, service: "boxoffice.platform.v1.Health", method: "Check", timeoutMicroseconds: 500_000))),
        (
            "request-full",
            .request(
                Request(
                    callID: 300, service: "boxoffice.platform.v1.Diagnostics", method: "Echo", timeoutMicroseconds: 2_000_000,
                    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", tracestate: "vendor=value", idempotencyKey: "7f1c",
                    payload: [0x0a, 3, 0x68, 0x69, 0, 0x10, 5]))
        ),
        ("response", .response(Response(callID: 1, outcome: .payload(report)))),
        ("response-empty", .response(Response(callID: 2, outcome: .payload([])))),
        (
            "response-fault",
            .response(
                Response(
                    callID: 3,
                    outcome: .fault(
                        WireFault(code: "overloaded", message: "Too many calls are in flight.", retryable: true, retryAfterMilliseconds: 100))))
        ),
        (
            "response-fault-details",
            .response(
                Response(
                    callID: 4,
                    outcome: .fault(
                        WireFault(
                            code: "authorization_denied_by_mvpd", message: "Denied.", details: "Nicht im Paket enthalten – bitte anrufen"))))
        ),
        ("stream-item", .streamItem(StreamItem(callID: 5, payload: report))),
        ("stream-end", .streamEnd(StreamEnd(callID: 5))),
        (
            "stream-end-fault",
            .streamEnd(StreamEnd(callID: 6, fault: WireFault(code: "unavailable", message: "The callee leaves.", retryable: true)))
        ),
        ("cancel", .cancel(Cancel(callID: 7))),
        ("ping", .ping(Ping(nonce: 1))),
        ("pong", .pong(Pong(nonce: 1))),
        ("go-away", .goAway(GoAway(lastCallID: 300, code: "shutdown", message: "The callee leaves."))),
    ]

    static let names = values.map(\.name)

    static func kind(_ name: String) -> Frame.Kind? { values.first { $0.name == name }?.kind }

    /// The file's bytes.
    static func bytes(_ name: String) throws -> [UInt8] {
        let rows = try TextFile.read("Golden/\(name).hex").split(separator: "\n").filter { !$0.hasPrefix("#") }
        return try rows.flatMap { $0.split(separator: " ") }.map { text in
            guard let byte = UInt8(text, radix: 16) else { throw NotHex() }
            return byte
        }
    }

    /// A health report: serving, version 1.0.
    private static let report: [UInt8] = [8, 1, 0x1a, 3, 0x31, 0x2e, 0x30]
}
