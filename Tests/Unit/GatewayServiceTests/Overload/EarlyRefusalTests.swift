internal import Contracts
internal import Foundation
@testable import GatewayEdge
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdTesting
internal import Logging
internal import NIOCore
internal import Testing

/// Refusals before the parser: they look like those behind it, and get nothing out of step.
@Suite struct EarlyRefusalTests {
    private static let path = "/api/v1/checkauthn?\(TestGateway.deviceQuery)"

    @Test("a refusal before the parser is the one behind it, but for its identifier", arguments: ["application/json", "application/xml", "*/*"])
    func looksTheSame(accept: String) throws {
        let gateway = TestGateway()
        let refusals = OverloadRefusals(
            routes: RouteTree(try gateway.routes()), settings: gateway.settings, faces: try gateway.faces(), metrics: RequestMetrics(),
            transportSecurity: "max-age=1", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let head = HTTPRequest(method: .get, scheme: "http", authority: "a", path: Self.path, headerFields: [.accept: accept])
        let late = try #require(refusals.reply(to: head, sparesUrgent: false))
        let plain = try #require(
            Array("GET \(Self.path) HTTP/1.1\r\nHost: a\r\nAccept: \(accept)\r\n\r\n".utf8).withUnsafeBytes { PlainGet($0) })
        func lines(_ bytes: ByteBuffer) -> [String] {
            String(buffer: bytes).split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)
                .filter { !$0.hasPrefix("Date: ") && !$0.hasPrefix("Adobe-Request-Id: ") }
        }
        let expected = Http1Answer(status: late.status, fields: late.fields, body: late.body, connection: .stays).bytes()
        let early = try [0, 1].map { _ in try #require(refusals.refusal(of: plain, sparesUrgent: true)) }
        #expect(early.allSatisfy { lines($0) == lines(expected) })
        let identifiers = early.map { bytes in String(buffer: bytes).split(separator: "\r\n").first { $0.hasPrefix("Adobe-Request-Id: ") } }
        #expect(identifiers[0] != identifiers[1] && identifiers.allSatisfy { $0?.utf8.count == 18 + 36 })
    }

    @Test(
        "what is urgent, a page or not the API is left to the parser",
        arguments: ["/api/v1/authenticate?reg_code=x", "/activate", "/healthz", "/admin/v1/draft"])
    func leavesOthers(target: String) throws {
        let gateway = TestGateway()
        let refusals = OverloadRefusals(
            routes: RouteTree(try gateway.routes()), settings: gateway.settings, faces: try gateway.faces(), metrics: RequestMetrics(),
            transportSecurity: nil, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let plain = try #require(Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8).withUnsafeBytes { PlainGet($0) })
        #expect(refusals.refusal(of: plain, sparesUrgent: true) == nil)
        // A person's sign-in may be refused at last; all others never here.
        if !target.hasPrefix("/api/") { #expect(refusals.refusal(of: plain, sparesUrgent: false) == nil) }
    }

    /// Writes of one client, and how many answers they ask for. Each part is sent by itself, with a moment in between.
    struct Dialogue: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let parts: [String]
        let answers: Int
    }

    private static let get =
        "GET \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nX-Device-Info: \(TestGateway.deviceInformation)\r\n\r\n"
    private static let post = "POST /api/v1/checkauthn HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n"

    // A line end is one character to Swift.
    static let dialogues = [
        Dialogue(testDescription: "one after the other", parts: [get, get, get, get], answers: 4),
        Dialogue(testDescription: "two at once", parts: [get + get, get], answers: 3),
        Dialogue(testDescription: "split in the middle of the head", parts: [String(get.prefix(30)), String(get.dropFirst(30)), get], answers: 2),
        Dialogue(testDescription: "split before the empty line", parts: [String(get.dropLast(1)), "\r\n", get], answers: 2),
        Dialogue(testDescription: "a beginning behind a whole one", parts: [get + get.prefix(40), String(get.dropFirst(40)), get], answers: 3),
        Dialogue(testDescription: "a body that ends as a head does", parts: [post + "abcd\r\n\r\n", get], answers: 2),
        Dialogue(testDescription: "a body that looks like a request", parts: [post + "a=b&", "\r\n\r\n", get], answers: 2),
        Dialogue(testDescription: "a body in two parts", parts: [post, "abcd", "efgh", get, get], answers: 3),
    ]

    @Test("however requests arrive, each gets one answer, in order", arguments: dialogues)
    func keepsStep(dialogue: Dialogue) async throws {
        let gateway = TestGateway(connections: ConnectionLimits(head: .seconds(600), idle: .seconds(600)), overload: OverloadTests.strict)
        OverloadTests.keepBusy(gateway)
        try await gateway.exchange(over: .live) { client in
            let port = try #require(client.port)
            try await withThrowingTaskGroup(of: RawConnection.self) { group in
                for _ in 0..<4 * System.coreCount {
                    group.addTask {
                        let connection = try await RawConnection.open(port)
                        for part in dialogue.parts {
                            await connection.send(part)
                            try await Task.sleep(for: .milliseconds(Int.random(in: 1...15)))
                        }
                        try await connection.wait(for: "\(dialogue.answers) answers") { $0.statuses.count >= dialogue.answers || $0.isClosed }
                        return connection
                    }
                }
                for try await connection in group {
                    #expect(connection.statuses.count == dialogue.answers && connection.statuses.allSatisfy { [200, 405, 503].contains($0) })
                    // The connection is as good as new.
                    await connection.send("GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
                    try await connection.wait(for: "the next answer") { $0.statuses.count > dialogue.answers || $0.isClosed }
                    #expect(connection.statuses.last == 200)
                    await connection.close()
                }
            }
        }
    }
}
