internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// Tells why sign-ins failed, check by check (mvpd §2.3). Nothing in it is personal.
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
        let administrator = try await reader(exchange)
        let request = try AdministrationBody.object(exchange) { body in
            ExplainResponseRequest(
                samlResponse: body.text("samlResponse"), mvpd: body.text("mvpd"), requestor: body.optionalText("requestor"),
                atMilliseconds: body.optionalInstant("at"), requestID: body.optionalText("requestId"))
        }
        let isBound = administrator.role != .operator
        if isBound {
            guard !request.requestor.isEmpty else {
                throw AdministrationError.invalid([FieldProblem(field: "requestor", message: "must name a requestor of yours")])
            }
            _ = try await reader(exchange, of: request.requestor)
        }
        let report = try await operations.explainResponse(request, context: exchange.call)
        guard !isBound || Self.isAddressed(report, to: request.requestor) else {
            throw AdministrationError.invalid([
                FieldProblem(
                    field: "samlResponse",
                    message: "is not addressed to the requestor by itself: look up the sign-in by its trace id, or ask an operator to explain it")
            ])
        }
        return Response(Self.document(report), format: .json)
    }

    /// The facts from an assertion alone, which may have come encrypted.
    private static let inside: Set<String> = ["assertion's issuer", "NameID", "confirmation", "valid", "signed in at", "session ends", "attribute"]

    /// True when each audience that the message names, once it is decrypted, is the requestor's own. Another company's message does not concern an
    /// administrator who is bound to programmers. A message in which no assertion could be read says nothing that its holder does not see.
    private static func isAddressed(_ report: SignInReport, to requestor: String) -> Bool {
        let own = Array("/on-behalf-of/\(requestor)".utf8)
        let audiences = report.facts.filter { $0.name == "audience" }
        guard !audiences.isEmpty else { return !report.facts.contains { inside.contains($0.name) } }
        return audiences.allSatisfy { $0.value.utf8.count > own.count && $0.value.utf8.suffix(own.count).elementsEqual(own) }
    }

    /// - Parameter requestor: One that the administrator has to see; empty: none.
    private func reader(_ exchange: Exchange, of requestor: String = "") async throws -> Administrator {
        let check = CheckAdministratorRequest(token: try exchange.administrator(), permission: .read, requestorID: requestor)
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

/// Tells how the latest scheduled sign-in of each MVPD ended (Shared/Documents/Decisions/0085).
struct ScheduledSignInEndpoints: Sendable {
    static let path = "/admin/v1/scheduled-sign-ins"

    let administration: any Administration
    let reader: SignInReader

    @Sendable func list(_ exchange: Exchange) async throws -> Response {
        let check = CheckAdministratorRequest(token: try exchange.administrator(), permission: .read)
        let administrator = try await administration.checkAdministrator(check, context: exchange.call)
        let items = try await reader.scheduled(for: administrator, exchange).map { Document.Value.object(Self.members($0)) }
        return Response(Document("scheduledSignIns", [.init("scheduledSignIns", .list(items, item: "scheduledSignIn"))]), format: .json)
    }

    private static func members(_ state: ScheduledSignInState) -> [Document.Member] {
        let result = state.endedAtMilliseconds == 0 ? "waiting" : state.failedStep.isEmpty ? "succeeded" : "failed"
        let steps = state.steps.map { step in
            Document.Value.object([.init("name", .text(step.name)), .init("milliseconds", .number(Int64(step.durationMilliseconds)))])
        }
        return [
            .init("mvpd", .text(state.mvpd)), .init("requestor", .text(state.requestor)), .init("result", .text(result)),
            .init("trace", .optional(state.traceID)), .init("endedAt", .number(state.endedAtMilliseconds)),
            .init("failedStep", .optional(state.failedStep)), .init("reason", .optional(state.reason)),
            .init("explanation", .optional(state.explanation)), .init("steps", .list(steps, item: "step")),
            .init("failures", .number(Int64(state.failures))), .init("failingSince", .number(state.failingSinceMilliseconds)),
        ]
    }
}

/// Tables of what integrations come to on each platform (dashboard §6).
struct ReportEndpoints: Sendable {
    private static let kinds: [String: ReportKind] = ["authn-ttl": .authnTtl, "authz-ttl": .authzTtl, "sso": .sso]

    let administration: any Administration

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let name = try exchange.captured("report")
        guard let kind = Self.kinds[name] else { throw AdministrationError.notFound("There is no such report.") }
        let asTable = try Self.wantsTable(exchange)
        let request = GetReportRequest(
            token: token, kind: kind, requestorIDs: try Self.chosen("requestor", exchange), mvpdIDs: try Self.chosen("mvpd", exchange))
        let report = try await administration.getReport(request, context: exchange.call)
        return asTable ? Self.table(report, name: name) : Response(Self.document(report), format: .json)
    }

    /// Each value of a parameter that may be repeated.
    private static func chosen(_ name: String, _ exchange: Exchange) throws -> [String] {
        try exchange.all(name).filter { !$0.isEmpty }
    }

    /// True when CSV is asked for, by `format` or `Accept`.
    static func wantsTable(_ exchange: Exchange) throws -> Bool {
        switch try exchange.value("format") {
        case "csv": return true
        case "json": return false
        case nil: return exchange.headers[values: .accept].joined(separator: ",").lowercased().contains("text/csv")
        default: throw AdministrationError.badRequest("Parameter 'format' must be csv or json", field: "format")
        }
    }

    private static func document(_ report: CatalogueReport) -> Document {
        let rows = report.rows.map { row in
            Document.Value.object([
                .init("requestor", .text(row.requestorID)), .init("mvpd", .text(row.mvpdID)), .init("mvpdName", .text(row.mvpdName)),
                .init("values", .list(row.cells.map { .text($0) }, item: "value")),
            ])
        }
        return Document(
            "report", [.init("columns", .list(report.columns.map { .text($0) }, item: "column")), .init("rows", .list(rows, item: "row"))])
    }

    static func table(_ report: CatalogueReport, name: String) -> Response {
        var table = CommaSeparatedTable()
        table.append(["Requestor", "MVPD", "MVPD name"] + report.columns)
        for row in report.rows { table.append([row.requestorID, row.mvpdID, row.mvpdName] + row.cells) }
        var response = Response(text: table.text, type: "text/csv; charset=utf-8; header=present", cacheControl: "no-store")
        response.headers[.contentDisposition] = "attachment; filename=\"\(name).csv\""
        return response
    }
}

/// A table as CSV (RFC 4180) that no spreadsheet takes for formulas.
struct CommaSeparatedTable {
    private(set) var text = ""

    mutating func append(_ cells: [String]) {
        text += cells.map(Self.cell).joined(separator: ",") + "\r\n"
    }

    private static func cell(_ value: String) -> String {
        let harmless = value.unicodeScalars.first.map { "=+-@\t\r".unicodeScalars.contains($0) } == true ? "'" + value : value
        guard harmless.unicodeScalars.contains(where: { "\",\r\n".unicodeScalars.contains($0) }) else { return harmless }
        return "\"" + harmless.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
    }
}

/// The administrators' operations on clients and trials: config decides who may, authentication does it.
struct OperationEndpoints: Sendable {
    let administration: any Administration
    let operations: any AuthenticationOperations

    @Sendable func resetTempPass(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let (request, subject) = try Self.reset(exchange)
        let check = CheckAdministratorRequest(
            token: token, permission: .resetTempPass, requestorID: request.requestor, mvpdID: request.mvpd, subject: subject)
        _ = try await administration.checkAdministrator(check, context: exchange.changingCall)
        let outcome = try await operations.resetTempPass(request, context: exchange.changingCall)
        return Response(Document("reset", [.init("trials", .number(Int64(outcome.trials)))]), format: .json)
    }

    @Sendable func revokeClient(_ exchange: Exchange) async throws -> Response {
        let token = try exchange.administrator()
        let client = try exchange.captured("client")
        let check = CheckAdministratorRequest(token: token, permission: .revokeClient, subject: client)
        _ = try await administration.checkAdministrator(check, context: exchange.changingCall)
        let outcome = try await operations.revokeClient(RevokeClientRequest(clientID: client), context: exchange.changingCall)
        guard outcome.wasKnown else { throw AdministrationError.notFound("There is no such client.") }
        return .empty(.noContent)
    }

    private static func reset(_ exchange: Exchange) throws -> (request: ResetTempPassRequest, subject: String) {
        let (requestor, mvpd, device, key) = try AdministrationBody.object(exchange) {
            ($0.text("requestor"), $0.text("mvpd"), $0.optionalText("device"), $0.optionalText("key"))
        }
        guard device.isEmpty || key.isEmpty else {
            throw AdministrationError.invalid([FieldProblem(field: "key", message: "is not allowed together with device")])
        }
        let everyone = [device, key].allSatisfy { $0.isEmpty || $0 == "all" }
        // The audit log must not become a list of devices and people.
        let subject = everyone ? "everyone" : "\(key.isEmpty ? "device" : "identifier") \((device + key).prefix(4))…"
        let scope: ResetTempPassRequest.Scope = key.isEmpty ? .deviceID(device) : .key(key)
        return (ResetTempPassRequest(requestor: requestor, mvpd: mvpd, scope: scope), subject)
    }
}
