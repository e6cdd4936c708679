internal import Clocks
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// A viewer's sessions, for support: found by code, device or user, and ended one by one or all together.
struct SupportPages: Sendable {
    let console: Console

    private var controller: SupportController {
        SupportController(
            administration: console.administration, operations: console.dependencies.operations,
            authorization: console.dependencies.authorization)
    }

    @Sendable func show(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        try await page(Typed(), [:], visitor, exchange)
    }

    @Sendable func find(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        try await found(Typed(exchange), nil, visitor, exchange)
    }

    @Sendable func end(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var typed = try Typed(exchange)
        let session = try exchange.value("session") ?? ""
        if try exchange.value("confirmed") != "1" { typed.problems.append("Confirm that the viewer has to sign in again.") }
        if !ViewerKind.isGood(session) { typed.problems.append("Choose a session.") }
        guard typed.problems.isEmpty else { return try await page(typed, [:], visitor, exchange, status: .unprocessableContent) }
        do {
            let ended = try await controller.end(session == "all" ? "" : session, of: typed.viewer, by: visitor.secret, exchange)
            return try await found(typed, ended, visitor, exchange)
        } catch let fault as Fault where Self.isTyped(fault) {
            return try await refused(typed, visitor, exchange)
        }
    }

    private func found(_ typed: Typed, _ ended: UInt32?, _ visitor: Visitor, _ exchange: Exchange) async throws -> Response {
        guard typed.problems.isEmpty else { return try await page(typed, [:], visitor, exchange, status: .unprocessableContent) }
        let found: SupportController.Found
        do {
            found = try await controller.find(typed.viewer, by: visitor.secret, exchange)
        } catch let fault as Fault where Self.isTyped(fault) {
            return try await refused(typed, visitor, exchange)
        }
        var content: [String: Any] = [
            "hasAnswer": true, "viewerSessions": found.viewer.sessions.map { Self.row($0, found.refusal(of: $0)) },
            "isEmpty": found.viewer.sessions.isEmpty, "isCut": found.viewer.hasMore, "lacksRefusals": found.refusals == nil,
            "endAddress": ConsolePlace.support.address + "/end",
        ]
        if let ended { content["endedSessions"] = ["endedCount": ended == 1 ? "1 session" : "\(ended) sessions"] }
        if let code = found.viewer.code {
            content["codeFacts"] =
                [
                    "codeMade": DisplayedTime(milliseconds: code.createdAtMilliseconds).text,
                    "codeEnd": DisplayedTime(milliseconds: code.expiresAtMilliseconds).text,
                    "isUsed": code.isUsed,
                ] as [String: Any]
        }
        return try await page(typed, content, visitor, exchange)
    }

    private static func isTyped(_ fault: Fault) -> Bool { fault.code == .notFound || fault.code == .invalidRequest }

    private func refused(_ typed: Typed, _ visitor: Visitor, _ exchange: Exchange) async throws -> Response {
        var typed = typed
        typed.problems.append("There is no such channel, or the id has no accepted form.")
        return try await page(typed, [:], visitor, exchange, status: .unprocessableContent)
    }

    private func page(
        _ typed: Typed, _ more: [String: Any], _ visitor: Visitor, _ exchange: Exchange, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let channels = try ConsoleScope(catalogue: console.dependencies.catalogue).channels(of: visitor.administrator)
        let content: [String: Any] = [
            "channels": ConsoleScope.choices(channels, chosen: [typed.channel]), "formProblems": typed.problems,
            "hasProblems": !typed.problems.isEmpty, "isCode": typed.kind == .code, "isDevice": typed.kind == .device, "isUser": typed.kind == .user,
            "viewerKind": typed.kind.rawValue, "viewerId": typed.value, "viewerChannel": typed.channel, "viewerMvpd": typed.mvpd,
            "supportAddress": ConsolePlace.support.address,
        ]
        return await console.page(
            "support", "Support", in: .support, content.merging(more) { own, _ in own }, for: visitor, exchange, status: status)
    }

    private static func row(_ session: ViewerSession, _ refusal: SessionRefusal?) -> [String: Any] {
        let device = [session.deviceType, session.deviceModel, session.osName].filter { !$0.isEmpty }.joined(separator: ", ")
        var row: [String: Any] = [
            "sessionId": session.id, "sessionMvpd": session.mvpd, "sessionWay": word(session.kind),
            "sessionSince": DisplayedTime(milliseconds: session.authenticatedAtMilliseconds).text,
            "sessionEnd": DisplayedTime(milliseconds: session.expiresAtMilliseconds).text, "sessionDevice": device.isEmpty ? "–" : device,
            "devicePrefix": session.devicePrefix + "…",
        ]
        if let refusal {
            row["lastRefusal"] = [
                "refusedAt": DisplayedTime(milliseconds: refusal.refusedAtMilliseconds).text, "refusalReason": RefusalText.sentence(refusal),
                "refusalCode": refusal.code,
            ]
        }
        return row
    }

    private static func word(_ kind: SessionKind) -> String {
        switch kind {
        case .regular: "sign-in at the MVPD"
        case .platform: "the platform's single sign-on"
        case .tempPass: "TempPass"
        case .degraded: "degradation"
        case .shared: "single sign-on"
        case .automatic: "automatic sign-in"
        case .serviceToken: "service token"
        case .unrecognized: "other"
        }
    }

    /// The administrator's input.
    private struct Typed {
        var channel = ""
        var mvpd = ""
        var kind = ViewerKind.code
        var value = ""
        var problems: [String] = []

        var viewer: FindViewerSessionsRequest {
            FindViewerSessionsRequest(requestor: channel, mvpd: mvpd, viewer: kind.named(value))
        }

        init() {}

        init(_ exchange: Exchange) throws {
            channel = try exchange.value("requestor") ?? ""
            mvpd = (try exchange.value("mvpd") ?? "").trimmed
            value = (try exchange.value("viewer") ?? "").trimmed
            if channel.isEmpty { problems.append("Choose a channel.") }
            if let known = ViewerKind(rawValue: try exchange.value("kind") ?? "") {
                kind = known
            } else {
                problems.append("Choose what the id is.")
            }
            if !ViewerKind.isGood(value) { problems.append("Give the code, or the id of the device or the user: at most 512 octets.") }
            if kind == .user, mvpd.isEmpty { problems.append("Name the MVPD: a user's id is one of its.") }
        }
    }
}

/// Rules that take effect without a push while an MVPD is in trouble (dashboard §4).
struct DegradationPages: Sendable {
    let console: Console

    @Sendable func list(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let rules = try await console.administration.listDegradationRules(
            ListDegradationRulesRequest(token: visitor.secret), context: exchange.call)
        var content: [String: Any] = [
            "rules": rules.rules.map(DegradationRow.content), "isEmpty": rules.rules.isEmpty,
            "wasStarted": (try? exchange.value("started")) == "1", "hasEnded": (try? exchange.value("ended")) == "1",
        ]
        if visitor.mayEdit { content["newAddress"] = Console.address("degradation", "new") }
        return await console.page("degradation", "Degradation", in: .degradation, content, for: visitor, exchange)
    }

    @Sendable func form(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let typed = DegradationForm(mvpds: try exchange.all("mvpd"), requestors: try exchange.all("requestor"))
        return try await page(typed, visitor, exchange)
    }

    /// One rule for each channel and MVPD; the first that is refused ends it, and what began until then is told.
    @Sendable func start(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        var typed = try DegradationForm(exchange)
        guard typed.isComplete else { return try await page(typed, visitor, exchange, status: .unprocessableContent) }
        let end = UInt64(clamping: SystemClock().now().milliseconds) + UInt64(typed.minutes) * 60_000
        for requestor in typed.requestors {
            let request = StartDegradationRequest(
                token: visitor.secret, kind: typed.kind, requestorID: requestor, mvpdIDs: typed.mvpdIDs, endsAtMilliseconds: end,
                message: typed.message, reason: typed.reason)
            // One call for each channel: each is a change of its own.
            switch try await console.administration.startDegradation(request, context: exchange.partialCall(requestor)).outcome {
            case .started: continue
            case .refusal(let refusal):
                typed.problems.append("\(requestor): \(refusal.message)")
                typed.problems += refusal.problems.map { "\(requestor): \($0.field) \($0.message)" }
                return try await page(typed, visitor, exchange, status: AdministrationError(refusal).status)
            case nil: throw Fault(.internal, "config answered without an outcome.")
            }
        }
        return Console.seeOther(Console.address("degradation", query: ["started": "1"]))
    }

    @Sendable func end(_ exchange: Exchange, _ visitor: Visitor) async throws -> Response {
        let request = EndDegradationRequest(token: visitor.secret, id: try exchange.required("id"))
        do { _ = try await console.administration.endDegradation(request, context: exchange.changingCall) } catch let fault as Fault
            // It has ended by itself meanwhile.
            where fault.code == .notFound
        {}
        return Console.seeOther(Console.address("degradation", query: ["ended": "1"]))
    }

    private func page(
        _ form: DegradationForm, _ visitor: Visitor, _ exchange: Exchange, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        // Rules are of what is live.
        var content = form.content(channels: try ConsoleScope(catalogue: console.dependencies.catalogue).channels(of: visitor.administrator))
        content["degradationAddress"] = ConsolePlace.degradation.address
        return await console.page("degrade", "Start a degradation", in: .degradation, content, for: visitor, exchange, status: status)
    }
}
