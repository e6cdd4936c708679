internal import SandboxKit
internal import Clocks
internal import FoundationEssentials
internal import Hummingbird

/// Routes by which tests control the stand-in; only callers on the same machine get an answer.
struct ControlRoutes: Sendable {
    private static let largestMessage = 16 * 1024
    /// A year, in seconds.
    private static let largestOffset = 31_536_000

    let mvpds: Set<String>
    let clock: AdjustableClock
    let log: RequestLog
    let disturbances: Disturbances
    let homes: HomeNetworks
    let evil: EvilMode
    let oauth: [String: OAuthProvider]

    func add(to router: Router<SandboxContext>) {
        let control = router.group("/control").add(middleware: LoopbackOnly())
        control.get("/log") { _, _ in try report() }
        control.post("/reset") { _, _ in
            log.reset()
            disturbances.reset()
            homes.reset()
            evil.reset()
            for provider in oauth.values { provider.memory.reset() }
            clock.shift(by: .zero)
            return HTTPResponse.Status.noContent
        }
        control.post("/pdp/{mvpd}") { request, context in
            let mvpd = try context.parameters.require("mvpd")
            guard mvpds.contains(mvpd) else { throw HTTPError(.notFound) }
            disturbances.set(try await read(request) { octets throws(SettingsFault) in try Disturbance(json: octets) }, for: mvpd)
            return HTTPResponse.Status.noContent
        }
        control.post("/home/{mvpd}") { request, context in
            let mvpd = try context.parameters.require("mvpd")
            guard mvpds.contains(mvpd) else { throw HTTPError(.notFound) }
            homes.set(try await read(request, Self.home), for: mvpd)
            return HTTPResponse.Status.noContent
        }
        control.post("/evil/{mvpd}") { request, context in
            let mvpd = try context.parameters.require("mvpd")
            guard mvpds.contains(mvpd) else { throw HTTPError(.notFound) }
            evil.set(
                try await read(request) { octets throws(SettingsFault) in try SettingsFault.decode(EvilMessage.self, from: octets).attack }, for: mvpd
            )
            return HTTPResponse.Status.noContent
        }
        control.get("/evil") { _, _ in
            let names = Attack.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
            return Response(
                status: .ok, headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: "{\"attacks\":[\(names)]}")))
        }
        control.post("/clock") { request, _ in
            clock.shift(by: try await read(request, Self.offset))
            return HTTPResponse.Status.noContent
        }
    }

    private func report() throws -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = ByteBuffer(bytes: try encoder.encode(log.report()))
        return Response(status: .ok, headers: [.contentType: "application/json"], body: ResponseBody(byteBuffer: body))
    }

    private struct HomeMessage: Decodable {
        let addresses: [String]
        let person: String?
    }

    /// - Returns: nil when the message names no person.
    private static func home(_ octets: [UInt8]) throws(SettingsFault) -> HomeNetworks.Home? {
        let message = try SettingsFault.decode(HomeMessage.self, from: octets)
        return message.person.map { HomeNetworks.Home(addresses: Set(message.addresses), person: $0) }
    }

    private struct EvilMessage: Decodable {
        /// Absent: the next answer is genuine.
        let attack: Attack?
    }

    private struct ClockMessage: Decodable {
        let offsetSeconds: Int
    }

    private static func offset(_ octets: [UInt8]) throws(SettingsFault) -> Duration {
        let seconds = try SettingsFault.decode(ClockMessage.self, from: octets).offsetSeconds
        guard (-largestOffset...largestOffset).contains(seconds) else { throw SettingsFault(key: "offsetSeconds", problem: "is more than a year") }
        return .seconds(seconds)
    }

    private func read<Value>(_ request: Request, _ parse: ([UInt8]) throws(SettingsFault) -> Value) async throws -> Value {
        let octets = Array(buffer: try await request.body.collect(upTo: Self.largestMessage))
        do {
            return try parse(octets)
        } catch {
            throw HTTPError(.badRequest, message: "\(error)")
        }
    }
}
