internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore

/// An administrative call is refused for this reason, as its reply tells it (dashboard §5).
struct AdministrationError: Error {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var problems: [FieldProblem] = []
    var conflicts: [CatalogueChange] = []
    var references: [EntityReference] = []
    /// The people that an id stands for, though it was to name one person.
    var people: [PersonIdentity] = []

    static func badRequest(_ message: String, field: String? = nil) -> AdministrationError {
        AdministrationError(
            status: .badRequest, code: "invalid_request", message: message, problems: field.map { [FieldProblem(field: $0, message: message)] } ?? [])
    }

    static func notFound(_ message: String) -> AdministrationError {
        AdministrationError(status: .notFound, code: "not_found", message: message)
    }

    static func invalid(_ problems: [FieldProblem]) -> AdministrationError {
        AdministrationError(status: .unprocessableContent, code: "invalid", message: "The content is not valid.", problems: problems)
    }

    /// - Parameter outcome: The operation that was not done.
    static func ambiguous(_ people: [PersonIdentity], _ outcome: String) -> AdministrationError {
        AdministrationError(
            status: .conflict, code: "ambiguous",
            message: "The id stands for \(people.count) people; \(outcome). Name one of them by user and mvpd.", people: people)
    }

    static let unsupportedMediaType = AdministrationError(
        status: .unsupportedMediaType, code: "unsupported_media_type", message: "The body must be application/json.")
}

extension AdministrationError {
    init(_ refusal: Refusal) {
        let (status, code) = Self.meaning(refusal.reason)
        self.init(
            status: status, code: code, message: refusal.message, problems: refusal.problems, conflicts: refusal.conflicts,
            references: refusal.references)
    }

    init(_ fault: Fault) {
        switch fault.code {
        case .accessDenied: self.init(status: .unauthorized, code: "access_denied", message: "The bearer is no administrator's.")
        case .insufficientRole: self.init(status: .forbidden, code: "insufficient_role", message: fault.message)
        case .notFound: self.init(status: .notFound, code: "not_found", message: fault.message)
        case let code where code.isBad: self.init(status: .badRequest, code: "invalid_request", message: fault.message)
        case .unimplemented:
            self.init(status: .notImplemented, code: "not_offered", message: "The service behind this address does not offer it in this cluster.")
        case let code where code.isTransient:
            self.init(status: .serviceUnavailable, code: "unavailable", message: "The service is temporarily unavailable.")
        default: self.init(status: .internalServerError, code: "internal_error", message: "An internal fault occurred.")
        }
    }

    private static func meaning(_ reason: RefusalReason) -> (HTTPResponse.Status, String) {
        switch reason {
        case .duplicate: (.conflict, "duplicate")
        case .referenced: (.conflict, "referenced")
        case .conflict: (.conflict, "conflict")
        case .preconditionFailed: (.preconditionFailed, "precondition_failed")
        case .invalid: (.unprocessableContent, "invalid")
        case .secondPersonRequired: (.forbidden, "second_person_required")
        case .unknown, .unrecognized: (.internalServerError, "internal_error")
        }
    }
}

extension AdministrationError {
    /// - Parameter trace: The id that an administrator quotes to support.
    func document(trace: String) -> Document {
        var members: [Document.Member] = [.init("code", .text(code)), .init("message", .text(message))]
        if let field = problems.first?.field, !field.isEmpty { members.append(.init("field", .text(field))) }
        if !problems.isEmpty { members.append(.init("problems", .list(problems.map(AdministrationDocuments.problem), item: "problem"))) }
        if !conflicts.isEmpty { members.append(.init("conflicts", .list(conflicts.map(AdministrationDocuments.change), item: "change"))) }
        if !references.isEmpty { members.append(.init("references", .list(references.map(AdministrationDocuments.reference), item: "reference"))) }
        if !people.isEmpty { members.append(.init("people", PeopleEndpoints.people(people))) }
        return Document("error", [.init("error", .object(members + [.init("trace", .text(trace))]))])
    }
}

/// Everything about a person, for those who answer for it. Ids come in the body: an address is written down in too many places.
struct PeopleEndpoints: Sendable {
    static let path = "/admin/v1/people"
    private static let longest = 512

    let controller: PeopleController

    @Sendable func export(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let found = try await controller.export(try Self.selector(exchange), by: token, exchange)
        let services = found.records.map { service, records in
            Document.Member(
                service,
                .object([
                    .init("tables", .object(records.tables.map { .init($0.name, .json("[\($0.rows.joined(separator: ","))]")) })),
                    .init("more", .flag(records.hasMore)), .init("remainders", Self.remainders(records.remainders)),
                ]))
        }
        return Response(Document("person", [.init("people", Self.people(found.person.people)), .init("services", .object(services))]), format: .json)
    }

    @Sendable func erase(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (person, erased) = try await controller.erase(try Self.selector(exchange), by: token, exchange)
        let told = erased + [("config", Self.nothing(PeopleController.config)), ("gateway", Self.nothing(PeopleController.gateway))]
        let services = told.map { service, records in
            Document.Member(
                service,
                .object([
                    .init("erased", .object(records.tables.map { .init($0.name, .number(UInt64($0.rows))) })),
                    .init("remainders", Self.remainders(records.remainders)),
                ]))
        }
        return Response(Document("erasure", [.init("people", Self.people(person.people)), .init("services", .object(services))]), format: .json)
    }

    private static func nothing(_ records: PersonRecords) -> ErasedRecords { ErasedRecords(remainders: records.remainders) }

    private static func selector(_ exchange: Exchange) throws -> PersonSelector {
        let (mvpd, ids) = try AdministrationBody.object(exchange) { body in
            (body.optionalText("mvpd"), ["user", "household", "device", "code"].map { ($0, body.optionalText($0)) })
        }
        let given = ids.filter { !$0.1.isEmpty }
        guard let (kind, value) = given.first, given.count == 1 else {
            throw AdministrationError.invalid([FieldProblem(field: "user", message: "give one of user, household, device and code")])
        }
        for (field, text) in [(kind, value), ("mvpd", mvpd)] where !text.isEmpty && !ViewerKind.isGood(text) {
            throw AdministrationError.invalid([FieldProblem(field: field, message: "must have 1 to \(longest) octets without controls")])
        }
        let person: PersonSelector.Person =
            switch kind {
            case "user": .userID(value)
            case "household": .householdID(value)
            case "device": .deviceID(value)
            default: .code(value)
            }
        return PersonSelector(mvpd: mvpd, person: person)
    }

    static func people(_ people: [PersonIdentity]) -> Document.Value {
        .list(
            people.map { person in
                .object([
                    .init("mvpd", .text(person.mvpd)), .init("user", .optional(person.upstreamUserID)),
                    .init("sessions", .number(UInt64(person.sessions))),
                ])
            }, item: "person")
    }

    private static func remainders(_ remainders: [PersonRemainder]) -> Document.Value {
        .list(
            remainders.map { remainder in
                .object([
                    .init("name", .text(remainder.name)), .init("rows", .number(UInt64(remainder.rows))),
                    .init("reason", .text(remainder.reason)), .init("end", .text(remainder.end)),
                ])
            }, item: "remainder")
    }
}

/// The face of the administration API: always JSON (dashboard §5).
struct AdministrationFace: GuardedFace {
    func reply(to error: any Error, _ fault: Fault, _ exchange: Exchange) -> Response {
        let refusal = error as? AdministrationError ?? AdministrationError(fault)
        var response = Response(refusal.document(trace: exchange.facts.trace.traceID), format: .json, status: refusal.status)
        if refusal.status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer" }
        return response
    }

    func reply(to problem: BodyRejection, _ exchange: Exchange) -> Response {
        let code =
            switch problem {
            case .tooLarge: "too_large"
            case .tooSlow: "timeout"
            case .broken: "invalid_request"
            }
        return reply(problem.status, code: code, trace: exchange.facts.trace.traceID)
    }

    func methodNotAllowed(_ exchange: Exchange) -> Response {
        reply(.methodNotAllowed, code: "method_not_allowed", trace: exchange.facts.trace.traceID)
    }

    func notFound(_ request: Request, _ facts: RequestFacts) -> Response { reply(.notFound, code: "not_found", trace: facts.trace.traceID) }

    func overloaded(_ request: OverloadedRequest) -> (HTTPFields, ByteBuffer) {
        let document = AdministrationError(Fault(.overloaded, OverloadedRequest.message)).document(trace: request.trace)
        return (.unstored(ReplyFormat.json.contentType), document.body(.json))
    }

    func stranger(_ refusal: AdministrationNames.Refusal, trace: String) -> Response {
        let error =
            switch refusal {
            case .foreignHost:
                AdministrationError(
                    status: .misdirectedRequest, code: "foreign_host",
                    message: "This listener has no such name. Use its address in numbers or localhost, or list the name in gateway.admin.hosts.")
            case .foreignOrigin:
                AdministrationError(status: .forbidden, code: "foreign_origin", message: "Pages of other origins may not administer.")
            }
        return Response(error.document(trace: trace), format: .json, status: error.status)
    }

    private func reply(_ status: HTTPResponse.Status, code: String, trace: String) -> Response {
        let refusal = AdministrationError(status: status, code: code, message: status.reasonPhrase)
        return Response(refusal.document(trace: trace), format: .json, status: status)
    }
}
