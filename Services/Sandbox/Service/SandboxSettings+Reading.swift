internal import FoundationEssentials

extension SandboxSettings {
    /// Reads a settings file. Relative paths count from the file's folder.
    /// - Throws: `SettingsFault` that names the key.
    public init(file: String) throws(SettingsFault) {
        let octets = try Self.read(file, key: "--config")
        try self.init(json: octets, folder: URL(filePath: file).deletingLastPathComponent().path(percentEncoded: false))
    }

    /// Reads settings from JSON.
    /// - Parameter folder: Where relative paths count from.
    /// - Throws: `SettingsFault` that names the key.
    public init(json: [UInt8], folder: String) throws(SettingsFault) {
        let file = try SettingsFault.decode(SettingsFile.self, from: json)
        let resolve = { (path: String) in path.hasPrefix("/") ? path : folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)" }
        guard (0...65535).contains(file.listen.port) else { throw SettingsFault(key: "listen.port", problem: "is not from 0 to 65535") }
        listen = Listener(address: file.listen.address, port: file.listen.port)
        tls = file.tls.map { Tls(certificate: resolve($0.certificate), key: resolve($0.key)) }
        let publicURL = file.publicURL ?? "http://\(listen.address):\(listen.port)"
        self.publicURL = publicURL
        if publicURL.hasSuffix("/") { throw SettingsFault(key: "publicURL", problem: "ends with a slash") }
        serviceURL = file.serviceURL ?? publicURL
        if serviceURL.hasSuffix("/") { throw SettingsFault(key: "serviceURL", problem: "ends with a slash") }
        pages = file.pages.map(resolve)
        logLevel = try Self.level(file.log)
        serviceProvider = ServiceProvider(
            entityID: file.serviceProvider.entityID, signingCertificate: resolve(file.serviceProvider.signingCertificate),
            encryptionCertificate: file.serviceProvider.encryptionCertificate.map(resolve), acsURL: file.serviceProvider.acsURL,
            logoutURL: file.serviceProvider.logoutURL ?? Self.logoutURL(beside: file.serviceProvider.acsURL)
        )
        mvpds = file.mvpds.map { Mvpd($0, publicURL: publicURL, resolve: resolve) }
        channels = file.channels ?? Person.standardChannels
        people = file.people?.map(Person.init) ?? Person.standard
        visitorPrefix = file.visitorPrefix
        if let prefix = visitorPrefix, !(4...64).contains(prefix.utf8.count) {
            throw SettingsFault(key: "visitorPrefix", problem: "does not have 4 to 64 characters")
        }
        if let apple = file.apple { self.apple = try Self.apple(apple, mvpds: mvpds, resolve: resolve) }
        upstream = try file.upstream.map { upstream throws(SettingsFault) in try UpstreamSettings(upstream, resolve: resolve) }
        staff = file.staff.map { StaffSettings($0, resolve: resolve) }
        trustsPrivateNetworks = file.trustPrivateNetworks ?? false
        try check()
    }

    private static func apple(
        _ apple: SettingsFile.Apple, mvpds: [Mvpd], resolve: (String) -> String
    ) throws(SettingsFault) -> Apple {
        guard (0...65535).contains(apple.listen.port) else { throw SettingsFault(key: "apple.listen.port", problem: "is not from 0 to 65535") }
        var providers: [String: String] = [:]
        for (index, provider) in apple.providers.enumerated() {
            guard mvpds.contains(where: { $0.id == provider.mvpd }) else {
                throw SettingsFault(key: "apple.providers[\(index)].mvpd", problem: "is none of the MVPDs")
            }
            guard providers.updateValue(provider.mvpd, forKey: provider.id) == nil else {
                throw SettingsFault(key: "apple.providers[\(index)].id", problem: "is used twice")
            }
        }
        return Apple(
            listen: Listener(address: apple.listen.address, port: apple.listen.port), identityIssuer: apple.identityIssuer,
            identityKey: resolve(apple.identityKey), providers: providers,
            teams: (apple.teams ?? []).map { AppleTeamSettings($0, resolve: resolve) }, seed: apple.seed)
    }

    /// At the same server as the assertion consumer, under the path that service providers have (mvpd §2.1).
    private static func logoutURL(beside acsURL: String) -> String {
        let parts = acsURL.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.prefix(3).joined(separator: "/") + "/sp/saml/LogoutServiceHTTPRedirectResponse"
    }

    static func read(_ path: String, key: String) throws(SettingsFault) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else { throw SettingsFault(key: key, problem: "cannot be read: \(path)") }
        // Some editors put a mark before a text.
        return Array(data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data)
    }

    private static func level(_ log: SettingsFile.Log?) throws(SettingsFault) -> String {
        let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        let level = log?.level ?? "info"
        guard levels.contains(level) else { throw SettingsFault(key: "log.level", problem: "is not one of \(levels.joined(separator: ", "))") }
        return level
    }

    private func check() throws(SettingsFault) {
        if mvpds.isEmpty { throw SettingsFault(key: "mvpds", problem: "names no MVPD") }
        for (index, mvpd) in mvpds.enumerated() {
            guard !mvpd.id.isEmpty, mvpd.id.utf8.count <= 128, mvpd.id.utf8.allSatisfy(Self.isPlain) else {
                throw SettingsFault(key: "mvpds[\(index)].id", problem: "has characters other than letters, digits, - and _")
            }
            if mvpds[..<index].contains(where: { $0.id == mvpd.id }) { throw SettingsFault(key: "mvpds[\(index)].id", problem: "is used twice") }
            if mvpd.encryptAssertion, serviceProvider.encryptionCertificate == nil {
                throw SettingsFault(key: "serviceProvider.encryptionCertificate", problem: "is missing, and \(mvpd.id) encrypts")
            }
        }
        for (index, person) in people.enumerated() { try check(person, at: index) }
    }

    private func check(_ person: Person, at index: Int) throws(SettingsFault) {
        if people[..<index].contains(where: { $0.name == person.name }) {
            throw SettingsFault(key: "people[\(index)].name", problem: "is used twice")
        }
        if let rating = person.maximumTelevisionRating, Rating.television.rank(rating) == nil {
            throw SettingsFault(key: "people[\(index)].maxVCHIP", problem: "is not a V-Chip rating")
        }
        if let rating = person.maximumFilmRating, Rating.film.rank(rating) == nil {
            throw SettingsFault(key: "people[\(index)].maxMPAA", problem: "is not an MPAA rating")
        }
    }

    private static func isPlain(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: octet == UInt8(ascii: "-") || octet == UInt8(ascii: "_")
        }
    }
}

extension SandboxSettings.Mvpd {
    fileprivate init(_ entry: SettingsFile.Mvpd, publicURL: String, resolve: (String) -> String) {
        self.init(
            id: entry.id, displayName: entry.displayName ?? entry.id, entityID: entry.entityID ?? "\(publicURL)/saml/\(entry.id)/metadata",
            certificate: resolve(entry.certificate), key: resolve(entry.key), signAssertion: entry.signAssertion ?? true,
            signResponse: entry.signResponse ?? false, encryptAssertion: entry.encryptAssertion ?? false,
            validateRequests: entry.validateRequests ?? true,
            home: entry.home.map { HomeNetworks.Home(addresses: Set($0.addresses), person: $0.person) },
            oauth: entry.oauth.map { OAuthSettings($0, mvpd: entry.id, publicURL: publicURL, resolve: resolve) }
        )
    }
}

extension UpstreamSettings {
    fileprivate init(_ entry: SettingsFile.Upstream, resolve: (String) -> String) throws(SettingsFault) {
        guard (0...65535).contains(entry.listen.port) else { throw SettingsFault(key: "upstream.listen.port", problem: "is not from 0 to 65535") }
        let publicURL = entry.publicURL ?? "http://\(entry.listen.address):\(entry.listen.port)"
        if publicURL.hasSuffix("/") { throw SettingsFault(key: "upstream.publicURL", problem: "ends with a slash") }
        self.init(
            listen: .init(address: entry.listen.address, port: entry.listen.port), publicURL: publicURL, certificate: resolve(entry.certificate),
            key: resolve(entry.key), throttles: entry.throttles ?? false)
    }
}

extension Person {
    fileprivate init(_ entry: SettingsFile.Person) {
        let channels = entry.channels ?? ["*"]
        self.init(name: entry.name, subscription: channels == ["*"] ? .everything : .channels(channels))
        password = entry.password ?? entry.name
        maximumTelevisionRating = entry.maxVCHIP
        maximumFilmRating = entry.maxMPAA
        zip = entry.zip ?? zip
        isHeadOfHousehold = entry.headOfHousehold ?? true
        loginFails = entry.loginFails ?? false
    }
}
