internal import BridgeClient
internal import Catalogue
internal import Contracts
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import TextEncodings

/// The second screen: a person types the code that the TV shows, picks the TV provider, and signs in there (rest-v1 §4.2).
struct ActivationPages: Sendable {
    static let path = "/activate"
    static let startPath = path + "/sign-in"
    static let endPath = path + "/done"

    let dependencies: Dependencies
    let signIn: SignInEndpoints

    /// The message to a person about the code.
    enum CodeProblem: String {
        case empty
        case implausible
        /// Unknown, expired, replaced, used: one text for all, so that nobody learns which codes there were (dashboard §8).
        case unknown
        case noProvider
        case providerUnavailable
        /// An upstream signs people in there, and brings them back to the channel's page alone (bridge §7.6).
        case elsewhere

        /// True where another code is the remedy.
        var isOfCode: Bool {
            switch self {
            case .empty, .implausible, .unknown: true
            case .noProvider, .providerUnavailable, .elsewhere: false
            }
        }
    }

    @Sendable func entry(_ exchange: Exchange) async throws -> Response {
        page(code: TypedCode(try exchange.value("code") ?? "").text, problem: nil, exchange)
    }

    @Sendable func providers(_ exchange: Exchange) async throws -> Response {
        let typed = TypedCode(try exchange.value("code") ?? "")
        guard !typed.text.isEmpty else { return page(code: "", problem: .empty, exchange) }
        guard typed.isPlausible else { return page(code: typed.text, problem: .implausible, exchange) }
        let code: RegistrationCode
        do { code = try await record(typed, exchange) } catch { return try refusal(error, typed, exchange) }
        let catalogue = try dependencies.catalogue.current()
        let reader = dependencies.pages.reader(exchange)
        let listing = await choices(code, catalogue)?.providers(dependencies.authentication, code, exchange) ?? .listed([])
        let providers = ProviderList(catalogue, requestor: code.requestor, chosen: code.mvpd, bridged: listing.providers, reader.language)
        guard !providers.isEmpty else {
            var response = page(code: typed.text, problem: .noProvider, of: code.requestor, exchange)
            if case .unknown(let seconds) = listing {
                response.status = .serviceUnavailable
                response.headers[.retryAfter] = String(seconds)
            }
            return response
        }
        if try exchange.value(Self.choosing) == nil, providers.holds(code.mvpd) {
            return .redirect(to: Self.signInPath(code.code, mvpd: code.mvpd))
        }
        let query = String((try exchange.value("q") ?? "").unicodeScalars.prefix(Self.longestQuery))
        let look = ChannelLook(catalogue.requestor(code.requestor) ?? Requestor(id: code.requestor))
        var content = providers.content(query: query, reader.language)
        content.merge(["requestor": look.name, "code": code.code]) { own, _ in own }
        if case .unknown = listing { content["incomplete"] = true }
        return dependencies.pages.render(
            "providers", content, status: .ok, for: reader, look: look.page, allowsScript: true, holdsNoSecret: true)
    }

    /// A parameter of the list of providers: also when the app has chosen one already.
    private static let choosing = "choose"
    /// The part of a search that is read, in scalars.
    private static let longestQuery = 80

    /// The address of the list of providers, whatever the app has chosen.
    static func choice(_ code: String) -> String { "\(path)/providers?code=\(PercentEncoding.encode(code))&\(choosing)=1" }

    /// The address of the page that asks before a sign-in begins.
    static func signInPath(_ code: String, mvpd: String) -> String {
        "\(startPath)?code=\(PercentEncoding.encode(code))&mvpd=\(PercentEncoding.encode(mvpd))"
    }

    /// Shows for which device and channel the sign-in is; its button begins it.
    @Sendable func confirm(_ exchange: Exchange) async throws -> Response {
        let typed = TypedCode(try exchange.value("code") ?? "")
        guard typed.isPlausible else { return page(code: typed.text, problem: .implausible, exchange) }
        let code: RegistrationCode
        do { code = try await record(typed, exchange) } catch { return try refusal(error, typed, exchange) }
        let mvpd = try exchange.value("mvpd") ?? ""
        let catalogue = try dependencies.catalogue.current()
        if let bridged = choices(code, catalogue), bridged.holds(mvpd) {
            guard !bridged.areElsewhere else { return page(code: code.code, problem: .elsewhere, of: code.requestor, exchange) }
        } else if !catalogue.activeIntegrations(requestor: code.requestor).contains(where: { $0.mvpd.id == mvpd }) {
            return page(code: code.code, problem: .providerUnavailable, of: code.requestor, exchange)
        }
        return try signIn.confirmation.page(
            code, provider: mvpd, action: Self.startPath, fields: [("code", code.code), ("mvpd", mvpd)], exchange)
    }

    @Sendable func start(_ exchange: Exchange) async throws -> Response {
        let typed = TypedCode(try exchange.value("code") ?? "")
        guard typed.isPlausible else { return page(code: typed.text, problem: .implausible, exchange) }
        guard signIn.confirmation.isConfirmed(typed.text, exchange) else {
            return dependencies.notices.page(.confirmationRefused, exchange)
        }
        let code: RegistrationCode
        do { code = try await record(typed, exchange) } catch { return try refusal(error, typed, exchange) }
        let catalogue = try dependencies.catalogue.current()
        let requestor = try catalogue.requireRequestor(code.requestor)
        let mvpd = try exchange.value("mvpd") ?? ""
        if let bridged = choices(code, catalogue), bridged.holds(mvpd), bridged.areElsewhere {
            return page(code: code.code, problem: .elsewhere, of: code.requestor, exchange)
        }
        let request = StartSignInRequest(
            requestor: requestor.id, mvpd: mvpd, registrationCode: code.code,
            domainName: requestor.domains.first?.name ?? "", redirectURL: doneAddress(code, mvpd, exchange),
            clientAddress: exchange.facts.clientAddress.text)
        do {
            var response = try await signIn.start(request, exchange)
            var pending = PendingActivation(code: code.code, mvpd: mvpd, requestor: requestor.id, device: ShownText(code.deviceLabel).text)
            // Who needs no MVPD is at the end at once.
            pending.isDone = response.headers[.location].map(pending.ends) ?? false
            pending.set(in: &response, exchange)
            return response
        } catch let fault as Fault {
            guard let problem = Self.problem(fault.code) else { throw fault }
            return page(code: problem == .providerUnavailable ? code.code : "", problem: problem, of: code.requestor, exchange)
        }
    }

    @Sendable func done(_ exchange: Exchange) async throws -> Response {
        let code = TypedCode(try exchange.value("code") ?? "").text
        let request = SessionByCodeRequest(requestor: try exchange.value("requestor") ?? "", code: code)
        let look = (try? dependencies.catalogue.current().requestor(request.requestor)).map(ChannelLook.init)
        do {
            _ = try await dependencies.codes.trying(code, of: exchange) {
                try await dependencies.authentication.getSessionByCode(request, context: exchange.call)
            }
            // Only the browser that has just signed in hears more than that: whoever has seen the code may ask.
            let own = PendingActivation(exchange).flatMap { $0.isDone && $0.code == code ? $0 : nil }
            var content: [String: Any] = ["signedIn": true]
            if let own { content["names"] = try names(own) }
            var response = dependencies.pages.render(
                "done", content, status: .ok, for: dependencies.pages.reader(exchange), look: look?.page)
            if own == nil { PendingActivation.clear(in: &response, exchange) }
            return response
        } catch let pause as CodePause {
            return page(code: code, pause: pause, exchange)
        } catch let fault as Fault where StatusTable.status(of: fault.code, at: .checkAuthnByCode) < 500 {
            var content: [String: Any] = ["signedIn": false]
            if !code.isEmpty { content["choice"] = PendingActivation.choice(code: code, mvpd: try exchange.value("mvpd") ?? "") }
            return dependencies.pages.render("done", content, status: .ok, for: dependencies.pages.reader(exchange), look: look?.page)
        }
    }

    /// Provider and device of a sign-in, for the template `done`.
    private func names(_ own: PendingActivation) throws -> [String: Any] {
        let name = try dependencies.catalogue.current().mvpd(own.mvpd)?.displayName ?? ""
        var names: [String: Any] = ["provider": ShownText(name.isEmpty ? own.mvpd : name).text]
        if !own.device.isEmpty { names["device"] = own.device }
        return names
    }

    private func choices(_ code: RegistrationCode, _ catalogue: Catalogue) -> UpstreamChoices? {
        catalogue.requestor(code.requestor).map { UpstreamChoices(requestor: $0, catalogue: catalogue) }
    }

    /// - Throws: `CodePause`; `invalid_registration_code` for a code that is no good.
    private func record(_ typed: TypedCode, _ exchange: Exchange) async throws -> RegistrationCode {
        // Without a requestor any requestor's code is found: the person only knows the code.
        let request = RegistrationCodeRequest(code: typed.text)
        return try await dependencies.codes.trying(typed.text, of: exchange) {
            try await dependencies.authentication.getRegistrationCode(request, context: exchange.call)
        }
    }

    private func refusal(_ error: any Error, _ typed: TypedCode, _ exchange: Exchange) throws -> Response {
        if let pause = error as? CodePause { return page(code: typed.text, pause: pause, exchange) }
        guard let fault = error as? Fault, [.invalidRegistrationCode, .registrationCodeSpent].contains(fault.code) else { throw error }
        return page(code: typed.text, problem: .unknown, exchange)
    }

    private func doneAddress(_ code: RegistrationCode, _ mvpd: String, _ exchange: Exchange) -> String {
        "\(exchange.facts.host.origin)\(Self.endPath)?code=\(PercentEncoding.encode(code.code))"
            + "&requestor=\(PercentEncoding.encode(code.requestor))&mvpd=\(PercentEncoding.encode(mvpd))"
    }

    private static func problem(_ code: Fault.Code) -> CodeProblem? {
        switch code {
        case .invalidRegistrationCode, .registrationCodeSpent: .unknown
        case .unknownIntegration, .unimplemented, .invalidRequest, .invalidDomain, .invalidRedirectURL: .providerUnavailable
        default: nil
        }
    }

    /// - Parameter requestor: The channel of the code; empty: not known.
    private func page(code: String, problem: CodeProblem?, of requestor: String = "", _ exchange: Exchange) -> Response {
        let look = look(requestor, exchange)
        var content: [String: Any] = ["code": code]
        if let problem {
            content["problem"] = [problem.rawValue: true]
            content["refused"] = problem.isOfCode
        }
        if let look { content["requestor"] = look.id }
        if problem == .providerUnavailable || problem == .elsewhere { content["choice"] = ["address": Self.choice(code)] }
        return dependencies.pages.render(
            "entry", content, status: problem == nil ? .ok : .badRequest, for: dependencies.pages.reader(exchange), look: look?.page)
    }

    /// The field stays filled; a script counts down what the text says.
    private func page(code: String, pause: CodePause, _ exchange: Exchange) -> Response {
        let look = look("", exchange)
        var content: [String: Any] = ["code": code, "problem": ["paused": true], "pause": ["seconds": pause.seconds]]
        if let look { content["requestor"] = look.id }
        var response = dependencies.pages.render(
            "entry", content, status: .tooManyRequests, for: dependencies.pages.reader(exchange), look: look?.page, allowsScript: true)
        response.headers[.retryAfter] = String(pause.seconds)
        return response
    }

    /// The look of the channel, or of the one that the address names: an app may show one with `?requestor=`, and the form sends it on. Only people who
    /// have a code learn what it says.
    private func look(_ requestor: String, _ exchange: Exchange) -> ChannelLook? {
        guard let id = requestor.isEmpty ? (try? exchange.value("requestor")) ?? nil : requestor else { return nil }
        return (try? dependencies.catalogue.current().requestor(id)).map(ChannelLook.init)
    }
}

/// The TV providers of a channel at which an upstream signs people in, for the second screen (bridge §7.6).
struct UpstreamChoices {
    let requestor: Requestor
    let catalogue: Catalogue

    /// Without a return page of ours the login ends at the channel's own page, where a person has to begin it too.
    var areElsewhere: Bool { requestor.bridge?.returnOrigin.isEmpty ?? false }

    /// True when an upstream signs people in there.
    func holds(_ mvpd: String) -> Bool {
        catalogue.bridgeWay(requestor: requestor.id, mvpd: mvpd) != nil && catalogue.integration(requestor: requestor.id, mvpd: mvpd)?.enabled == true
    }

    /// The providers of an upstream, as far as they are known now.
    enum Listing {
        case listed([ProviderList.Provider])
        /// No list can be had, and nobody else knows which of them are trials: these begin in an app, and would fail here.
        /// - Parameter seconds: How long to wait before the next question.
        case unknown(seconds: Int64)

        var providers: [ProviderList.Provider] { if case .listed(let providers) = self { providers } else { [] } }
    }

    private static let standardPause: Int64 = 5

    /// Those of the upstream's list that a browser can sign in at.
    func providers(_ authentication: any Authentication, _ code: RegistrationCode, _ exchange: Exchange) async -> Listing {
        guard let bridge = requestor.bridge, bridge.everyMvpd || !enabled.isEmpty else { return .listed([]) }
        let request = ListBridgedProvidersRequest(
            requestor: requestor.id, device: code.device ?? DeviceInformation(), clientAddress: exchange.facts.clientAddress.text)
        let list: BridgedProviders
        do {
            list = try await authentication.listBridgedProviders(request, context: exchange.call)
        } catch {
            return .unknown(seconds: (error as? Fault)?.retrySeconds ?? Self.standardPause)
        }
        let offers = UpstreamListing(requestor, bridge, catalogue, nil).bridgedOffers(list.providers)
        return .listed(
            offers.compactMap { offer in
                offer.provider?.isTemporaryPass == true ? nil : named(offer.id, offer.displayName, offer.provider?.logoURL)
            })
    }

    private var enabled: [Integration] {
        requestor.bridge == nil ? [] : catalogue.bridgedIntegrations(requestor: requestor.id).filter(\.enabled)
    }

    private func named(_ id: String, _ name: String, _ logo: String?) -> ProviderList.Provider {
        let own = catalogue.mvpd(id)
        let shown = [name, own?.displayName ?? "", id].first { !$0.isEmpty } ?? id
        let picture = own.map(\.logoURL).flatMap { $0.isEmpty ? nil : $0 } ?? logo ?? ""
        return ProviderList.Provider(id: id, name: ShownText(shown), logo: LogoAddress.usable(picture))
    }
}

/// The page to which `helpUrl` of an enhanced error leads.
struct HelpPages: Sendable {
    let pages: Pages

    /// Codes that stand in the template.
    private static let written: Set = ["invalid_access_token_client_application", "invalid_access_token_service_provider"]

    @Sendable func errors(_ exchange: Exchange) async throws -> Response {
        var told = Self.written
        let rows = (ErrorTable.rows + AutoSignInErrors.rows + V2Errors.rows).filter { told.insert($0.code).inserted }.map { row in
            [
                "code": row.code, "action": row.action, "statuses": row.statuses.map(String.init).joined(separator: ", "),
            ]
        }
        return pages.render("errors", ["rows": rows], status: .ok, for: english(exchange), holdsNoSecret: true)
    }

    /// Codes are for engineers.
    private func english(_ exchange: Exchange) -> PageReader {
        var reader = pages.english
        reader.acceptsGzip = Gzip.isAccepted(exchange.headers[.acceptEncoding])
        return reader
    }
}
