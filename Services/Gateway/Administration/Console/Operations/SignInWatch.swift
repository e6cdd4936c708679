internal import Contracts
internal import GatewayEdge
internal import Hummingbird

/// Shows the newest sign-in at an MVPD, check by check, as soon as there is one: for whoever tries a connection out.
struct SignInWatch: Sendable {
    static let path = ConsolePlace.signIns.address + "/watch"
    /// Between two looks.
    private static let seconds = 4

    let console: Console

    private var reader: SignInReader {
        SignInReader(operations: console.dependencies.operations, catalogue: console.dependencies.catalogue)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let mvpd = (try exchange.value("mvpd") ?? "").trimmed
        guard !mvpd.isEmpty else { return Console.seeOther(ConsolePlace.signIns.address) }
        let reports = try await reader.reports(ListSignInReportsRequest(mvpd: mvpd), for: visitor.administrator, exchange)
        guard let start = try exchange.value("after").flatMap(UInt64.init) else {
            // What was before is of no interest.
            return Console.seeOther(Self.address(mvpd, after: reports.first?.endedAtMilliseconds ?? 0))
        }
        let new = reports.filter { $0.endedAtMilliseconds > start && !$0.isTest }
        let isRunning = try exchange.value("paused") == nil
        var content: [String: Any] = [
            "watched": mvpd, "watchedAddress": ConsoleCollection.mvpds.address(of: mvpd), "isRunning": isRunning, "seconds": "\(Self.seconds)",
            "activationAddress": console.dependencies.settings.publicOrigin + "/activate",
            "pauseAddress": Self.address(mvpd, after: start, isPaused: true), "lookAddress": Self.address(mvpd, after: start),
            "allAddress": Console.address("sign-ins", query: ["mvpd": mvpd]), "count": "\(new.count)", "isMore": new.count > 1,
        ]
        if visitor.mayEdit { content["testAddress"] = TestSignInPages.address(mvpd: mvpd) }
        if let newest = new.first {
            let report = try await reader.report(newest.traceID, for: visitor.administrator, exchange)
            content.merge(SignInPages.content(report)) { _, own in own }
        }
        var response = await console.page("sign-in-watch", "Watch a sign-in", in: .signIns, content, for: visitor, exchange)
        // By a header: the page works without scripts.
        if isRunning { response.headers[.refresh] = "\(Self.seconds)" }
        return response
    }

    static func address(_ mvpd: String) -> String { Console.address("sign-ins", "watch", query: ["mvpd": mvpd]) }

    private static func address(_ mvpd: String, after start: UInt64, isPaused: Bool = false) -> String {
        let query: KeyValuePairs<String, String> =
            isPaused ? ["mvpd": mvpd, "after": "\(start)", "paused": "1"] : ["mvpd": mvpd, "after": "\(start)"]
        return Console.address("sign-ins", "watch", query: query)
    }
}
