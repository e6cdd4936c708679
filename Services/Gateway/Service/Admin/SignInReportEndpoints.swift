internal import Catalogue
internal import Contracts
internal import Hummingbird

/// Why sign-ins failed, check by check (mvpd §2.3). Nothing in it is personal.
struct SignInReportEndpoints: Sendable {
    static let path = "/admin/v1/sign-ins"
    private static let most: UInt32 = 200

    let administration: any Administration
    let operations: any AuthenticationOperations
    let catalogue: any CatalogueSource

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let administrator = try await reader(exchange)
        let failedOnly = try exchange.value("failed")
        guard failedOnly == nil || failedOnly == "true" || failedOnly == "false" else {
            throw AdministrationError.badRequest("Parameter 'failed' must be true or false", field: "failed")
        }
        let request = ListSignInReportsRequest(mvpd: try exchange.value("mvpd") ?? "", failedOnly: failedOnly == "true")
        let seen = try await reports.reports(request, for: administrator, exchange).prefix(Int(Self.most))
        let items = seen.map { Document.Value.object(Self.head($0)) }
        return Response(Document("signIns", [.init("signIns", .list(items, item: "signIn"))]), format: .json)
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let administrator = try await reader(exchange)
        let report = try await reports.report(try exchange.captured("trace"), for: administrator, exchange)
        return Response(Self.document(report), format: .json)
    }

    @Sendable func explain(_ exchange: Exchange) async throws -> Response {
        _ = try await reader(exchange)
        let request = try AdministrationBody.object(exchange) { body in
            ExplainResponseRequest(
                samlResponse: body.text("samlResponse"), mvpd: body.text("mvpd"), requestor: body.optionalText("requestor"),
                atMilliseconds: body.optionalInstant("at"), requestID: body.optionalText("requestId"))
        }
        return Response(Self.document(try await operations.explainResponse(request, context: exchange.call)), format: .json)
    }

    private func reader(_ exchange: Exchange) async throws -> Administrator {
        let check = CheckAdministratorRequest(token: try exchange.administrator(), permission: .read)
        return try await administration.checkAdministrator(check, context: exchange.call)
    }

    private var reports: SignInReader { SignInReader(operations: operations, catalogue: catalogue) }

    private static func head(_ report: SignInReport) -> [Document.Member] {
        [
            .init("trace", .optional(report.traceID)), .init("endedAt", .number(report.endedAtMilliseconds)),
            .init("requestor", .optional(report.requestor)), .init("mvpd", .optional(report.mvpd)), .init("result", .text(word(report.result))),
            .init("reason", .optional(report.reason)), .init("test", .flag(report.isTest)),
        ]
    }

    private static func document(_ report: SignInReport) -> Document {
        let checks = report.checks.map { check in
            Document.Value.object([
                .init("step", .number(Int64(check.step))), .init("title", .text(check.title)), .init("outcome", .text(word(check.outcome))),
                .init("reason", .optional(check.reason)), .init("explanation", .optional(check.explanation)), .init("hint", .optional(check.hint)),
            ])
        }
        let facts = report.facts.map { Document.Value.object([.init("name", .text($0.name)), .init("value", .text($0.value))]) }
        return Document(
            "signIn", head(report) + [.init("checks", .list(checks, item: "check")), .init("message", .list(facts, item: "fact"))])
    }

    private static func word(_ result: SignInResult) -> String {
        switch result {
        case .signedIn: "signedIn"
        case .declined: "declined"
        case .silent: "silent"
        case .rejected, .continued, .tested, .unknown, .unrecognized: "rejected"
        }
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
}
