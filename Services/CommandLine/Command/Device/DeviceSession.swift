internal import Foundation
internal import MediaTokenVerifier

/// Plays the whole second-screen flow of one simulated TV (rest-v1 §4.2, §4.5), printing each step.
struct DeviceSession {
    /// Who signs in on the second screen.
    enum Viewer {
        /// The person at the terminal, with a browser of their own.
        case person
        /// A simulated one.
        case simulated(name: String, mvpd: String)
        /// Nobody: the platform has, at the stand-in Apple of that address.
        case platform(person: String, apple: String)
    }

    let console: Console
    let exchange: HTTPExchange
    let gateway: String
    let requestor: String
    let resource: String
    let viewer: Viewer
    let pollInterval: Duration
    /// PEM; `nil`: fetched from the gateway.
    let certificates: String?
    /// Given for a device of an Apple Account.
    var appleAccount: AppleAccountUse?

    /// How a device uses its Apple Account.
    struct AppleAccountUse {
        let name: String
        /// Base URL of the stand-in Apple.
        let address: String
        let bundleID: String
        let optIn: AutomaticSignIn.OptIn
        /// True: ends automatic sign-in instead of watching.
        let endsEverything: Bool
    }

    /// - Throws: `CommandFailure` at the first step that does not work.
    func play(statement: String, deviceID: String) async throws {
        let hardware: SimulatedHardware = if case .platform = viewer { .appleTV } else { appleAccount == nil ? .television : .appleTV }
        var app = StreamingApp(exchange: exchange, gateway: gateway, requestor: requestor, deviceID: deviceID, hardware: hardware)
        app = try await console.step("The TV's app registered and got an access token") { [app] in
            var app = app
            try await app.register(statement: statement)
            return app
        }
        if let appleAccount {
            try await signIn(app, by: appleAccount)
            if appleAccount.endsEverything { return }
        } else {
            try await signIn(app)
        }
        try await watch(app)
    }

    private func signIn(_ app: StreamingApp, by use: AppleAccountUse) async throws {
        let account = SimulatedAppleAccount(
            exchange: exchange, address: use.address, account: use.name, bundleID: use.bundleID, device: app.deviceID)
        try await account.register()
        let automatic = AutomaticSignIn(console: console, app: app, account: account, optIn: use.optIn)
        if try await app.isSignedIn() {
            console.line(console.faint("            the device is signed in already"))
            if use.endsEverything { try await automatic.signOutEverywhere() }
            return
        }
        if use.endsEverything {
            try await signIn(app)
            return try await automatic.signOutEverywhere()
        }
        guard try await !automatic.redeem() else { return }
        try await signIn(app)
        try await automatic.offer()
    }

    /// The ordinary way.
    private func signIn(_ app: StreamingApp) async throws {
        switch viewer {
        case .person: try await letPersonSignIn(app, try await requestCode(app))
        case .simulated(let name, let mvpd): try await signIn(app, try await requestCode(app), name: name, mvpd: mvpd)
        case .platform(let person, let apple):
            let platform = SimulatedPlatform(exchange: exchange, address: apple, account: app.deviceID)
            try await PlatformSignIn(console: console, app: app, platform: platform, person: person).play()
        }
    }

    private func requestCode(_ app: StreamingApp) async throws -> StreamingApp.Code {
        try await console.step({ "The TV got the registration code \(console.bold($0.code))" }) { try await app.requestCode() }
    }

    private func letPersonSignIn(_ app: StreamingApp, _ code: StreamingApp.Code) async throws {
        let address = "\(gateway)/activate?code=\(code.code)"
        console.line()
        QrCode.lines(for: address).forEach { console.line("    " + $0) }
        console.line("\n  On your phone or computer open  \(console.bold("\(gateway)/activate"))  and type  \(console.bold(code.code))")
        console.line(console.faint("  The code is good until \(code.expires.formatted(date: .omitted, time: .shortened)). Waiting ...\n"))
        let start = ContinuousClock.now
        try await poll(app, until: code.expires)
        console.step("The TV polled and is signed in", took: ContinuousClock.now - start)
    }

    private func signIn(_ app: StreamingApp, _ code: StreamingApp.Code, name: String, mvpd: String) async throws {
        let end = "\(gateway)/activate/done"
        let query = FormEncoding.encode([
            ("reg_code", code.code), ("requestor_id", requestor), ("mso_id", mvpd), ("domain_name", try await domain()), ("noflash", "true"),
            ("no_iframe", "true"), ("redirect_url", "\(end)?code=\(code.code)&requestor=\(requestor)"),
        ])
        _ = try await console.step("\(name) signed in at \(mvpd) with that code") {
            var person = SimulatedPerson(exchange: exchange)
            return try await person.signIn(at: "\(gateway)/api/v1/authenticate?\(query)", name: name, password: name, until: end)
        }
        try await console.step("The TV polled and is signed in") { try await poll(app, until: code.expires) }
    }

    private func domain() async throws -> String {
        let answer = try await exchange.send("GET", "\(gateway)/api/v1/config/\(FormEncoding.encode(requestor)).json")
        let record = answer.object["requestor"] as? [String: Any]
        guard let domain = (record?["domains"] as? [[String: Any]])?.first?["name"] as? String else {
            throw CommandFailure("the requestor \(requestor) has no domain at \(gateway)", advice: "is it in the catalogue?")
        }
        return domain
    }

    private func poll(_ app: StreamingApp, until end: Date) async throws {
        while try await !app.isSignedIn() {
            guard Date() < end else { throw CommandFailure("the registration code expired before anybody signed in", advice: "start again") }
            try await Task.sleep(for: pollInterval)
        }
    }

    private func watch(_ app: StreamingApp) async throws {
        let end = try await console.step("The MVPD permits \(resource)") { try await app.authorize(resource) }
        let token = try await console.step({ "Media token for \(resource) issued (\($0.serialized.utf8.count) bytes)" }) {
            try await app.mediaToken(resource)
        }
        let report = try await console.step("Media token verified offline") {
            try await verified(token.serialized)
        }
        report.rows.forEach { console.line("            \(console.faint($0.name)) \($0.value)") }
        console.line(console.faint("            permitted until \(end.formatted(date: .abbreviated, time: .shortened))"))
    }

    private func verified(_ token: String) async throws -> MediaTokenReport {
        let keys =
            if let certificates {
                try MediaTokenKeys.trusted(certificates: certificates, jwks: nil)
            } else {
                try await MediaTokenKeys.trusted(by: gateway, exchange)
            }
        let check = MediaTokenVerifier(trustedKeys: keys).verify(token, requestor: requestor, resource: resource)
        guard check.verdict == .valid else { throw CommandFailure("the media token is not genuine: \(check.verdict.rawValue)") }
        return MediaTokenReport(check)
    }
}
