internal import Catalogue
internal import Contracts
internal import Faults
internal import Hummingbird
internal import TextEncodings

/// The second screen: a person types the code that the TV shows, picks the TV provider, and signs in there (rest-v1 §4.2).
struct ActivationPages: Sendable {
    static let path = "/activate"
    static let startPath = path + "/sign-in"

    let dependencies: Dependencies
    let signIn: SignInEndpoints

    /// What to tell a person about the code.
    enum CodeProblem: String {
        case empty
        case implausible
        /// Unknown, expired, replaced, used: one text for all, so that nobody learns which codes there were (dashboard §8).
        case unknown
        case noProvider
        case providerUnavailable
    }

    @Sendable func entry(_ exchange: Exchange) async throws -> Response {
        page(code: TypedCode(try exchange.value("code") ?? "").text, problem: nil)
    }

    @Sendable func providers(_ exchange: Exchange) async throws -> Response {
        let typed = TypedCode(try exchange.value("code") ?? "")
        guard !typed.text.isEmpty else { return page(code: "", problem: .empty) }
        guard typed.isPlausible else { return page(code: typed.text, problem: .implausible) }
        let code: RegistrationCode
        do { code = try await record(typed, exchange) } catch { return try refusal(error, typed) }
        let catalogue = try dependencies.catalogue.current()
        let providers = ProviderList(catalogue, code).entries
        guard !providers.isEmpty else { return page(code: typed.text, problem: .noProvider) }
        return dependencies.pages.render(
            "providers", ["requestor": catalogue.requestor(code.requestor)?.name ?? code.requestor, "code": code.code, "providers": providers],
            status: .ok)
    }

    /// Shows for which device and channel the sign-in is; its button begins it.
    @Sendable func confirm(_ exchange: Exchange) async throws -> Response {
        let typed = TypedCode(try exchange.value("code") ?? "")
        guard typed.isPlausible else { return page(code: typed.text, problem: .implausible) }
        let code: RegistrationCode
        do { code = try await record(typed, exchange) } catch { return try refusal(error, typed) }
        let mvpd = try exchange.value("mvpd") ?? ""
        let catalogue = try dependencies.catalogue.current()
        guard catalogue.activeIntegrations(requestor: code.requestor).contains(where: { $0.mvpd.id == mvpd }) else {
            return page(code: code.code, problem: .providerUnavailable)
        }
        return try signIn.confirmation.page(
            code, provider: mvpd, action: Self.startPath, fields: [("code", code.code), ("mvpd", mvpd)], exchange)
    }

    @Sendable func start(_ exchange: Exchange) async throws -> Response {
        let typed = TypedCode(try exchange.value("code") ?? "")
        guard typed.isPlausible else { return page(code: typed.text, problem: .implausible) }
        guard signIn.confirmation.isConfirmed(typed.text, exchange) else {
            return dependencies.pages.message(.formRefused, trace: exchange.facts.trace.traceID)
        }
        let code: RegistrationCode
        do { code = try await record(typed, exchange) } catch { return try refusal(error, typed) }
        let requestor = try dependencies.catalogue.current().requireRequestor(code.requestor)
        let request = StartSignInRequest(
            requestor: requestor.id, mvpd: try exchange.value("mvpd") ?? "", registrationCode: code.code,
            domainName: requestor.domains.first?.name ?? "", redirectURL: doneAddress(code), clientAddress: exchange.facts.clientAddress.text)
        do { return try await signIn.start(request, exchange) } catch let fault as Fault {
            guard let problem = Self.problem(fault.code) else { throw fault }
            return page(code: problem == .providerUnavailable ? code.code : "", problem: problem)
        }
    }

    @Sendable func done(_ exchange: Exchange) async throws -> Response {
        let code = TypedCode(try exchange.value("code") ?? "").text
        let request = SessionByCodeRequest(requestor: try exchange.value("requestor") ?? "", code: code)
        do {
            _ = try await dependencies.codes.trying(code, of: exchange) {
                try await dependencies.authentication.getSessionByCode(request, context: exchange.call)
            }
            return dependencies.pages.render("done", ["signedIn": true], status: .ok)
        } catch let pause as CodePause {
            return page(code: code, pause: pause)
        } catch let fault as Fault where StatusTable.status(of: fault.code, at: .checkAuthnByCode) < 500 {
            return dependencies.pages.render("done", ["signedIn": false, "code": code], status: .ok)
        }
    }

    /// - Throws: `CodePause`; `invalid_registration_code` for a code that is no good.
    private func record(_ typed: TypedCode, _ exchange: Exchange) async throws -> RegistrationCode {
        // Without a requestor any requestor's code is found: the person only knows the code.
        let request = RegistrationCodeRequest(code: typed.text)
        return try await dependencies.codes.trying(typed.text, of: exchange) {
            try await dependencies.authentication.getRegistrationCode(request, context: exchange.call)
        }
    }

    private func refusal(_ error: any Error, _ typed: TypedCode) throws -> Response {
        if let pause = error as? CodePause { return page(code: typed.text, pause: pause) }
        guard let fault = error as? Fault, [.invalidRegistrationCode, .registrationCodeSpent].contains(fault.code) else { throw error }
        return page(code: typed.text, problem: .unknown)
    }

    private func doneAddress(_ code: RegistrationCode) -> String {
        "\(dependencies.settings.publicOrigin)\(Self.path)/done?code=\(PercentEncoding.encode(code.code))"
            + "&requestor=\(PercentEncoding.encode(code.requestor))"
    }

    private static func problem(_ code: Fault.Code) -> CodeProblem? {
        switch code {
        case .invalidRegistrationCode, .registrationCodeSpent: .unknown
        case .unknownIntegration, .unimplemented, .invalidRequest, .invalidDomain, .invalidRedirectURL: .providerUnavailable
        default: nil
        }
    }

    private func page(code: String, problem: CodeProblem?) -> Response {
        var content: [String: Any] = ["code": code]
        if let problem {
            content["problem"] = [problem.rawValue: true]
        }
        return dependencies.pages.render("entry", content, status: problem == nil ? .ok : .badRequest)
    }

    /// The field stays filled; a script counts down what the text says.
    private func page(code: String, pause: CodePause) -> Response {
        let content: [String: Any] = ["code": code, "problem": ["paused": true], "pause": ["seconds": pause.seconds]]
        var response = dependencies.pages.render("entry", content, status: .tooManyRequests, allowsScript: true)
        response.headers[.retryAfter] = String(pause.seconds)
        return response
    }
}
