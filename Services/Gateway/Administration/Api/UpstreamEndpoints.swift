internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// The operators' questions to upstreams (bridge §15.3): config decides who may, authentication asks.
struct UpstreamEndpoints: Sendable {
    static let entry = EntityCollection.upstreams.entryPath

    let controller: UpstreamController

    @Sendable func check(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let upstream = try exchange.captured("id")
        let (part, request) = try AdministrationBody.object(exchange) { body in
            (
                body.text("part"),
                CheckUpstreamRequest(
                    upstream: upstream, requestor: body.optionalText("requestor"), ticket: body.optionalText("ticket"),
                    certificate: body.optionalText("certificate"), resource: body.optionalText("resource"))
            )
        }
        guard let known = UpstreamController.parts.first(where: { OctetText($0.word) == OctetText(part) })?.part else {
            throw AdministrationError.invalid([
                FieldProblem(field: "part", message: "must be one of client, session, decision, throttle, signIn and signedIn")
            ])
        }
        let largest = UpstreamController.largestCertificate
        guard request.certificate.utf8.count <= largest else {
            throw AdministrationError.invalid([FieldProblem(field: "certificate", message: "must have at most \(largest) octets")])
        }
        var question = request
        question.part = known
        let check = try await controller.check(question, part: part, by: token, exchange)
        return Response(Self.document(check), format: .json)
    }

    @Sendable func offers(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let upstream = try exchange.captured("id")
        guard let requestor = try exchange.value("requestor"), !requestor.isEmpty else {
            throw AdministrationError.badRequest("Parameter 'requestor' is required", field: "requestor")
        }
        let word = OctetText(try exchange.value("platform") ?? "")
        guard let platform = UpstreamController.platforms.first(where: { OctetText($0.word) == word })?.platform else {
            throw AdministrationError.badRequest("Parameter 'platform' must be one of the catalogue's platforms", field: "platform")
        }
        let list = try await controller.offers(of: upstream, requestor: requestor, platform: platform, by: token, exchange)
        return Response(Self.document(list), format: .json)
    }

    @Sendable func reset(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let upstream = try exchange.captured("id")
        let device = try AdministrationBody.object(exchange) { $0.text("device") }
        let sessions = try await controller.reset(device, at: upstream, by: token, exchange)
        return Response(Document("reset", [.init("sessions", .number(Int64(sessions)))]), format: .json)
    }

    // MARK: Documents

    private static func document(_ check: UpstreamCheck) -> Document {
        let steps = check.steps.map { step in
            Document.Value.object([
                .init("step", .number(Int64(step.step))), .init("title", .text(step.title)), .init("outcome", .text(word(step.outcome))),
                .init("expected", .optional(step.expected)), .init("seen", .optional(step.seen)), .init("advice", .optional(step.advice)),
                .init("upstreamTrace", .optional(step.trace)),
            ])
        }
        return Document(
            "upstreamCheck",
            [
                .init("requestor", .text(check.requestor)), .init("steps", .list(steps, item: "step")),
                .init("unreachable", .flag(check.isUnreachable)), .init("open", .flag(check.isOpen)),
                .init("browserAddress", .optional(check.browserAddress)), .init("ticket", .optional(check.ticket)),
            ])
    }

    private static func word(_ outcome: SignInCheckOutcome) -> String {
        switch outcome {
        case .passed: "passed"
        case .failed: "failed"
        case .notReached: "notReached"
        case .notNeeded: "notNeeded"
        case .notChecked, .unknown, .unrecognized: "notChecked"
        }
    }

    private static func document(_ list: UpstreamList) -> Document {
        let offers = list.entries.map { entry in
            Document.Value.object([
                .init("id", .text(entry.id)), .init("displayName", .text(entry.displayName)), .init("logoUrl", .optional(entry.logoURL)),
                .init("tempPass", .flag(entry.isTemporaryPass)), .init("boardingStatus", .optional(entry.boardingStatus)),
                .init("platformMappingId", .optional(entry.platformMappingID)), .init("enablePlatformServices", .flag(entry.enablesPlatformServices)),
                .init("displayInPlatformPicker", .flag(entry.isInPlatformPicker)),
                .init("enforcePlatformPermissions", .flag(entry.enforcesPlatformPermissions)),
            ])
        }
        return Document(
            "upstreamOffers",
            [
                .init("serviceProvider", .text(list.serviceProvider)), .init("offers", .list(offers, item: "offer")),
                .init("domains", .list(list.domains.map { .text($0) }, item: "domain")),
                .init("leftOut", .list(list.droppedIDs.map { .text($0) }, item: "id")),
            ])
    }
}

/// Tells how upstreams are now, beside what the draft says of them (bridge §14.1).
struct UpstreamConditions: Sendable {
    let operations: any AuthenticationOperations

    /// - Parameter upstream: Empty: of all.
    /// - Returns: By id; empty where nobody can say: what the draft says stands all the same.
    func states(_ upstream: String, _ exchange: Exchange) async -> [OctetText: Document.Value] {
        let request = ListUpstreamStatesRequest(upstream: upstream)
        guard let states = try? await operations.listUpstreamStates(request, context: exchange.call).states else { return [:] }
        return Dictionary(states.map { (OctetText($0.upstream), Self.document($0)) }, uniquingKeysWith: { first, _ in first })
    }

    private static func document(_ state: UpstreamState) -> Document.Value {
        let alarms = state.alarms.map { alarm in
            Document.Value.object([
                .init("event", .text(alarm.event)), .init("at", .number(alarm.atMilliseconds)), .init("count", .number(Int64(alarm.count))),
                .init("details", .optional(alarm.details)),
            ])
        }
        return .object([
            .init("condition", .text(state.openBreakers.isEmpty ? "working" : "failing")), .init("clients", .number(Int64(state.clients))),
            .init("deviceClients", .number(Int64(state.deviceClients))),
            .init("openBreakers", .list(state.openBreakers.map { .text($0) }, item: "group")),
            .init("callsUnderWay", .number(Int64(state.callsUnderWay))),
            .init("oldestListAt", state.oldestListAtMilliseconds == 0 ? .null : .number(state.oldestListAtMilliseconds)),
            .init("openLogouts", .number(Int64(state.openLogouts))), .init("clockOffsetMs", .number(state.clockOffsetMilliseconds)),
            .init("alarms", .list(alarms, item: "alarm")),
        ])
    }
}

/// Test sign-ins by the administrator's draft. The report of a test is a report like any other.
struct TestSignInEndpoints: Sendable {
    static let path = "\(EntityCollection.base)/draft/test-sign-ins"

    let controller: TestSignInController

    @Sendable func begin(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (requestor, mvpd) = try AdministrationBody.object(exchange) { ($0.text("requestor"), $0.text("mvpd")) }
        let test = try await controller.begin(requestor: requestor, mvpd: mvpd, by: token, exchange)
        var response = Response(
            Document(
                "testSignIn",
                [
                    .init("id", .text(test.id)), .init("address", .text(test.address)), .init("expiresAt", .number(test.expiresAt)),
                    .init("draftEtag", .optional(test.draftEtag)),
                ]), format: .json, status: .created)
        response.headers[.location] = "\(SignInReportEndpoints.path)/\(test.id)"
        return response
    }
}

/// Begins sign-ins by an administrator's draft: config says who may and hands out what to try, authentication tries it.
struct TestSignInController: Sendable {
    let administration: any Administration
    let operations: any AuthenticationOperations
    /// The origin of sign-ins.
    let origin: String

    /// A test that waits for a browser.
    struct Begun: Sendable {
        /// Trace id of its report.
        let id: String
        /// Opens it, once: at the origin of sign-ins, as the browser needs the cookie that the MVPD's answer brings.
        let address: String
        /// Milliseconds since 1970.
        let expiresAt: UInt64
        /// The tag of the draft that is tried; empty: there is none, and the newest version is.
        let draftEtag: String
    }

    /// - Throws: `AdministrationError` of a refusal, faults of both services.
    func begin(requestor: String, mvpd: String, by token: String, _ exchange: Exchange) async throws -> Begun {
        let request = PrepareTestSignInRequest(
            token: token, requestorID: requestor, mvpdID: mvpd, secrets: await .asked(of: operations, for: exchange))
        let plan: TestSignInPlan
        switch try await administration.prepareTestSignIn(request, context: exchange.changingCall).outcome {
        case .plan(let prepared): plan = prepared
        case .refusal(let refusal): throw AdministrationError(refusal)
        case nil: throw Fault(.internal, "config answered without an outcome.")
        }
        let begin = BeginTestSignInRequest(configuration: plan.configuration, requestor: requestor, mvpd: mvpd)
        let test = try await operations.beginTestSignIn(begin, context: exchange.changingCall)
        return Begun(
            id: test.id, address: address(test.ticket), expiresAt: test.expiresAtMilliseconds, draftEtag: plan.draftEtag)
    }

    func address(_ ticket: String) -> String { "\(origin)\(KnownPaths.testSignIn)/\(ticket)" }
}
