internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird

/// `/api/v2/{serviceProvider}/sessions`: the way to a sign-in (rest-v2 §2.2 to §2.5).
struct SessionEndpointsV2: Sendable {
    let dependencies: Dependencies
    let reader: AppCallReader
    let signIn: SignInEndpoints

    struct Form: Sendable {
        let mvpd: String
        let domainName: String
        let redirectURL: String

        init(_ exchange: Exchange) throws(Fault) {
            mvpd = try V2Fields.field("mvpd", exchange)
            domainName = try V2Fields.field("domainName", exchange)
            redirectURL = try V2Fields.field("redirectUrl", exchange)
        }
    }

    @Sendable func create(_ exchange: Exchange) async throws -> Response {
        let (call, form) = try await reader.device(exchange) { exchange throws(Fault) in try Form(exchange) }
        let plan = try await dependencies.liveCodes.plan(for: exchange.facts.clientAddress) {
            try await dependencies.authentication.beginSignIn(
                BeginSignInRequest(call: call, mvpd: form.mvpd, domainName: form.domainName, redirectURL: form.redirectURL),
                context: exchange.changingCall)
        }
        return Response(SignInPlanDocument(plan: plan, serviceProvider: call.requestor, isResumed: false).document, format: .json)
    }

    @Sendable func resume(_ exchange: Exchange) async throws -> Response {
        let (token, requestor, sent) = try await reader.client(exchange) { exchange throws(Fault) in
            (code: try V2Fields.code(exchange), form: try Form(exchange))
        }
        let plan = try await dependencies.authentication.continueSignIn(
            ContinueSignInRequest(
                accessToken: token, requestor: requestor, code: sent.code, mvpd: sent.form.mvpd, domainName: sent.form.domainName,
                redirectURL: sent.form.redirectURL), context: exchange.changingCall)
        return Response(SignInPlanDocument(plan: plan, serviceProvider: requestor, isResumed: true).document, format: .json)
    }

    @Sendable func show(_ exchange: Exchange) async throws -> Response {
        let (token, requestor, code) = try await reader.client(exchange) { exchange throws(Fault) in try V2Fields.code(exchange) }
        let record = try await dependencies.authentication.getRegistrationCode(
            RegistrationCodeRequest(accessToken: token, requestor: requestor, code: code, api: .v2), context: exchange.call)
        return Response(Self.document(record), format: .json)
    }

    private static func document(_ record: RegistrationCode) -> Document {
        let parameters = [("mvpd", record.mvpd), ("domainName", record.domainName), ("redirectUrl", record.redirectURL)]
        let existing = [("serviceProvider", record.requestor)] + parameters.filter { !$0.1.isEmpty }
        var members: [Document.Member] = [.init("existingParameters", .object(existing.map { .init($0.0, .text($0.1)) }))]
        let missing = parameters.filter(\.1.isEmpty).map { Document.Value.text($0.0) }
        if !missing.isEmpty { members.append(.init("missingParameters", .list(missing, item: "parameter"))) }
        members.append(.init("device", DeviceDocument(record.device ?? DeviceInformation()).value))
        return Document("session", members + SignInPlanDocument.times(record))
    }

    // MARK: In a browser

    /// Sends the browser to the MVPD (rest-v2 §2.5).
    @Sendable func authenticate(_ exchange: Exchange) async throws -> Response {
        let requestor = try dependencies.catalogue.current().requireRequestor(try exchange.capturedRequestor())
        let code: String
        do { code = try V2Fields.code(exchange) } catch { throw Fault(.invalidRequest, error.message) }
        let request = StartSignInRequest(
            requestor: requestor.id, registrationCode: code, clientAddress: exchange.facts.clientAddress.text,
            accessToken: ((try? Bearer.optional(exchange)) ?? nil) ?? "", api: .v2)
        guard requestor.confirmsSignIn else { return try await signIn.start(request, exchange) }
        let record = try await dependencies.authentication.getRegistrationCode(
            RegistrationCodeRequest(requestor: requestor.id, code: code), context: exchange.call)
        return try signIn.confirmation.page(
            record, provider: record.mvpd, action: SignInEndpoints.confirmedPath,
            fields: [("requestor_id", requestor.id), ("reg_code", code), ("api", "v2")], exchange)
    }
}
