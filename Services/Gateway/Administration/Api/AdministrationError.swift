internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Why an administrative call is refused, as its reply tells it (dashboard §5).
struct AdministrationError: Error {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var problems: [FieldProblem] = []
    var conflicts: [CatalogueChange] = []
    var references: [EntityReference] = []
    /// Whom an id stands for that was to name one person.
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

    /// - Parameter outcome: What was not done.
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
    /// - Parameter trace: What an administrator quotes to support.
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
