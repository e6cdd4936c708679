internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// Degradation as a programmer's own application manages it (clients §4.18): the rules that administrators have, in the reference's words.
struct DegradationControl: Sendable {
    /// The scope that the application's clients need.
    static let scope = "decisions:owner"
    static let path = "/control/v3/degradation/{mediaCompany}"
    private static let longestSeconds: UInt32 = 24 * 3600

    let authentication: any Authentication
    let administration: any Administration

    /// - Parameter kind: `nil`: every kind, in three lists.
    @Sendable func list(_ exchange: Exchange, _ kind: MeasureKind?) async throws -> Response {
        let (scope, includesFormer) = try await scope(exchange, kind) { exchange throws(Fault) in
            try exchange.value("includeHistory")?.lowercased() == "true"
        }
        let request = ListDegradationMeasuresRequest(scope: scope, includesFormer: includesFormer)
        let rules = try await administration.listDegradationMeasures(request, context: exchange.call).rules
        return Response(kind == nil ? Measures.byKind(rules) : Measures.list(rules), format: .json)
    }

    @Sendable func apply(_ exchange: Exchange, _ kind: MeasureKind) async throws -> Response {
        let (scope, (ttl, message)) = try await scope(exchange, kind) { exchange throws(Fault) in
            _ = try exchange.required("programmer")
            guard try exchange.all("mvpd").contains(where: { !$0.isEmpty }) else { throw Fault(.invalidRequest, "Required 'mvpd' is not present") }
            return (try Self.ttl(exchange), try exchange.value("msg") ?? "")
        }
        let request = ApplyDegradationMeasureRequest(scope: scope, ttlSeconds: ttl, message: message)
        let outcome = try await administration.applyDegradationMeasure(request, context: exchange.changingCall)
        switch outcome.outcome {
        case .started(let rules): return Response(Measures.list(rules.rules), format: .json, status: .created)
        case .refusal(let refusal): throw Self.fault(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    @Sendable func remove(_ exchange: Exchange, _ kind: MeasureKind?) async throws -> Response {
        let (scope, _) = try await scope(exchange, kind) { exchange throws(Fault) in try exchange.required("programmer") }
        _ = try await administration.removeDegradationMeasures(RemoveDegradationMeasuresRequest(scope: scope), context: exchange.changingCall)
        return .empty(.noContent)
    }

    /// The bearer comes first, then what the call says.
    /// - Parameter others: Reads what the call alone has.
    /// - Throws: `BearerRejection`, `access_denied`, `invalid_client`, `insufficient_scope`, `invalid_requestor`, `invalid_request`.
    private func scope<Others>(
        _ exchange: Exchange, _ kind: MeasureKind?, others: (Exchange) throws(Fault) -> Others
    ) async throws -> (scope: DegradationScope, others: Others) {
        let token = try Bearer.required(exchange)
        let requestor = (try? exchange.value("programmer")) ?? ""
        let verification = VerifyAccessTokenRequest(accessToken: token, requestor: requestor, scope: Self.scope)
        let client = try await authentication.verifyAccessToken(verification, context: exchange.call)
        exchange.serves(requestor.isEmpty ? client.requestorIDs : [requestor])
        let others = try others(exchange)
        let targets = try kind.map { try exchange.all($0.target) } ?? []
        let scope = DegradationScope(
            applicationID: client.applicationID, programmerID: try exchange.captured("mediaCompany"),
            requestorID: try exchange.value("programmer") ?? "", kinds: kind.map { [$0.rule] } ?? [],
            mvpdIDs: try exchange.all("mvpd").filter { !$0.isEmpty }, resources: targets.filter { !$0.isEmpty })
        return (scope, others)
    }

    private static func ttl(_ exchange: Exchange) throws(Fault) -> UInt32 {
        guard let text = try exchange.value("ttl"), !text.isEmpty else { return 0 }
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let seconds = UInt32(text), (1...longestSeconds).contains(seconds) else {
            throw Fault(.invalidRequest, "Parameter 'ttl' must be 1 to \(longestSeconds) seconds")
        }
        return seconds
    }

    /// Refusals of a rule come in this API's words, but for the MVPDs.
    private static func fault(_ refusal: Refusal) -> Fault {
        guard let problem = refusal.problems.first else { return Fault(.invalidRequest, refusal.message) }
        let isMvpd = problem.field.hasPrefix("mvpds") && problem.message.hasPrefix("is no MVPD")
        return Fault(isMvpd ? .unknownIntegration : .invalidRequest, "\(problem.field) \(problem.message)")
    }
}

/// A kind of rule, as the reference's degradation API calls it.
enum MeasureKind: String, CaseIterable, Sendable {
    case authnAll, authzAll, authzNone

    var rule: DegradationKind {
        switch self {
        case .authnAll: .authnAll
        case .authzAll: .authzAll
        case .authzNone: .authzNone
        }
    }

    init?(_ rule: DegradationKind) {
        guard let kind = Self.allCases.first(where: { $0.rule == rule }) else { return nil }
        self = kind
    }

    /// The `id` of a measure of that kind.
    var measure: String {
        switch self {
        case .authnAll: "authn-all"
        case .authzAll: "authz-all"
        case .authzNone: "authz-none"
        }
    }

    /// Its list in the answer for all kinds.
    var list: String {
        switch self {
        case .authnAll: "authnRules"
        case .authzAll: "authzRules"
        case .authzNone: "authzNoneRules"
        }
    }

    /// The parameter and member for the resources that it touches.
    var target: String { self == .authzNone ? "channel" : "resource" }
}

/// JSON of degradation rules as the reference's degradation API writes them; clients read `enabled` and `status` together.
enum Measures {
    static func list(_ rules: [ActiveDegradation]) -> Document {
        Document("degradation", [.init("degradation-measure", .list(rules.map(measure), item: "measure"))])
    }

    static func byKind(_ rules: [ActiveDegradation]) -> Document {
        Document(
            "degradation",
            MeasureKind.allCases.map { kind in
                .init(kind.list, .list(rules.filter { $0.rule?.kind == kind.rule }.map(measure), item: "measure"))
            })
    }

    private static func measure(_ active: ActiveDegradation) -> Document.Value {
        let rule = active.rule ?? DegradationRule()
        let kind = MeasureKind(rule.kind) ?? .authnAll
        var members: [Document.Member] = [
            .init("id", .text(kind.measure)), .init("programmer", named(rule.requestorID)), .init("mvpd", named(rule.mvpdID)),
        ]
        if kind != .authnAll || !rule.resources.isEmpty { members.append(.init(kind.target, .list(rule.resources.map(named), item: kind.target))) }
        return .object(
            members + [
                .init("enabled", .flag(active.endedAtMilliseconds == 0)), .init("status", .text(status(active, rule))),
                .init("ttl", .number((rule.endsAtMilliseconds - min(rule.startsAtMilliseconds, rule.endsAtMilliseconds)) / 1000)),
                .init("err-msg", .text(rule.message)), .init("activation-time", .number(rule.startsAtMilliseconds / 1000)),
            ])
    }

    private static func named(_ id: String) -> Document.Value { .object([.init("id", .text(id))]) }

    private static func status(_ active: ActiveDegradation, _ rule: DegradationRule) -> String {
        if active.endedAtMilliseconds == 0 { return "APPLIED" }
        return active.endedAtMilliseconds < rule.endsAtMilliseconds ? "REMOVED" : "EXPIRED"
    }
}

/// The web service by which an MVPD proxy keeps the list of MVPDs that are reached through it (dashboard §4).
struct ProxiedMvpdControl: Sendable {
    static let path = "/control/v3/mvpd-proxies/{mvpd}/mvpds"

    let administration: any Administration

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let request = ListProxiedMvpdsRequest(token: try exchange.administrator(), proxyMvpdID: try exchange.captured("mvpd"))
        let list = try await Self.telling { try await administration.listProxiedMvpds(request, context: exchange.call) }
        return Response(body: ByteBuffer(bytes: ProxiedMvpdMarkup.write(list.mvpds)), format: .xml)
    }

    @Sendable func replace(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let sent = try exchange.sentInBody("proxied-mvpds")
        guard sent.count == 1 else { throw Fault(.invalidRequest, "One form field 'proxied-mvpds' with the list as XML is required") }
        let request = ReplaceProxiedMvpdsRequest(token: token, proxyMvpdID: try exchange.captured("mvpd"), document: sent[0])
        let outcome = try await Self.telling { try await administration.replaceProxiedMvpds(request, context: exchange.changingCall) }
        switch outcome.outcome {
        case .version: return .empty(.created)
        case .refusal(let refusal):
            let problem = refusal.problems.first.map { $0.field.isEmpty ? "The list \($0.message)" : "\($0.field) \($0.message)" }
            throw Fault(.invalidRequest, problem ?? refusal.message)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
    }

    /// Another programmer's rule, an MVPD that is no proxy and a missing entry get one answer (403 of the published service).
    private static func telling<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let fault as Fault where [.insufficientRole, .notFound].contains(fault.code) {
            throw BearerRejection(fault: Fault(.insufficientScope, "The token keeps no list of this MVPD, or it is no proxy."))
        }
    }
}

/// The list as XML.
enum ProxiedMvpdMarkup {
    private static let namespace = "http://tve.adobe.com/data/proxiedmvpd"

    static func write(_ mvpds: [ProxiedMvpd]) -> [UInt8] {
        var writer = XMLWriter()
        writer.begin("proxiedMvpds", [("xmlns", namespace)], isRoot: true)
        for mvpd in mvpds {
            writer.begin("proxiedMvpd")
            writer.element("id", mvpd.id, mvpd.providerID.isEmpty ? [] : [("ProviderID", mvpd.providerID)])
            writer.element("displayName", mvpd.displayName)
            writer.element("logoURL", mvpd.logoURL)
            if mvpd.iframeWidth > 0 {
                writer.begin("iframeSize")
                writer.element("iframeHeight", "\(mvpd.iframeHeight)")
                writer.element("iframeWidth", "\(mvpd.iframeWidth)")
                writer.end("iframeSize")
            }
            if !mvpd.requestorIDs.isEmpty {
                writer.begin("requestorIds")
                for id in mvpd.requestorIDs { writer.element("requestorId", id) }
                writer.end("requestorIds")
            }
            writer.end("proxiedMvpd")
        }
        writer.end("proxiedMvpds")
        return writer.bytes
    }
}
