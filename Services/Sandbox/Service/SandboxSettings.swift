internal import FoundationEssentials
package import SandboxApple
package import SandboxKit
package import SandboxProviders
package import SandboxVendor

/// The settings of the stand-ins: addresses, key files, signatures, people.
package struct SandboxSettings: Sendable, Equatable {
    package struct Tls: Sendable, Equatable {
        package var certificate: String
        package var key: String
    }

    package var listen: ListenerSettings
    /// Files, PEM: HTTPS at the same address; `nil`: plain HTTP alone.
    package var tls: Tls?
    /// Folder with the page templates; nil looks for `Services/Sandbox/Pages`.
    package var pages: String?
    /// `trace` … `critical`.
    package var logLevel: String
    /// The MVPDs and their people.
    package var providers: ProviderSettings
    /// nil: there is no stand-in Apple.
    package var apple: AppleSettings?
    /// nil: there is no stand-in for a vendor's v2 server.
    package var vendor: VendorSettings?
    /// True when callers of private networks have the rights of callers on this machine: for a network of containers.
    package var trustsPrivateNetworks = false
}

extension SandboxSettings {
    /// Reads a settings file. Relative paths count from the file's folder.
    /// - Throws: `SettingsFault` that names the key.
    package init(file: String) throws(SettingsFault) {
        let octets = try KeyFile.read(file, key: "--config")
        try self.init(json: octets, folder: URL(filePath: file).deletingLastPathComponent().path(percentEncoded: false))
    }

    /// Reads settings from JSON.
    /// - Parameter folder: Where relative paths count from.
    /// - Throws: `SettingsFault` that names the key.
    package init(json: [UInt8], folder: String) throws(SettingsFault) {
        let file = try SettingsFault.decode(SettingsFile.self, from: json)
        let resolve = { (path: String) in path.hasPrefix("/") ? path : folder.hasSuffix("/") ? folder + path : "\(folder)/\(path)" }
        listen = try file.listen.checked("listen")
        tls = file.tls.map { Tls(certificate: resolve($0.certificate), key: resolve($0.key)) }
        let publicURL = file.publicURL ?? "http://\(listen.address):\(listen.port)"
        if publicURL.hasSuffix("/") { throw SettingsFault(key: "publicURL", problem: "ends with a slash") }
        let serviceURL = file.serviceURL ?? publicURL
        if serviceURL.hasSuffix("/") { throw SettingsFault(key: "serviceURL", problem: "ends with a slash") }
        pages = file.pages.map(resolve)
        logLevel = try Self.level(file.log)
        providers = ProviderSettings(
            publicURL: publicURL, serviceURL: serviceURL, serviceProvider: ServiceProviderSettings(file.serviceProvider, resolve: resolve),
            mvpds: file.mvpds.map { MvpdSettings($0, publicURL: publicURL, resolve: resolve) }, channels: file.channels ?? Person.standardChannels,
            people: file.people?.map(Person.init) ?? Person.standard, visitorPrefix: file.visitorPrefix,
            staff: file.staff.map { StaffSettings($0, resolve: resolve) })
        if let prefix = file.visitorPrefix, !(4...64).contains(prefix.utf8.count) {
            throw SettingsFault(key: "visitorPrefix", problem: "does not have 4 to 64 characters")
        }
        let mvpds = providers.mvpds.map(\.id)
        apple = try file.apple.map { apple throws(SettingsFault) in try AppleSettings(apple, mvpds: mvpds, resolve: resolve) }
        vendor = try file.upstream.map { vendor throws(SettingsFault) in try VendorSettings(vendor, resolve: resolve) }
        trustsPrivateNetworks = file.trustPrivateNetworks ?? false
        try providers.check()
    }

    private static func level(_ log: SettingsFile.Log?) throws(SettingsFault) -> String {
        let levels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
        let level = log?.level ?? "info"
        guard levels.contains(level) else { throw SettingsFault(key: "log.level", problem: "is not one of \(levels.joined(separator: ", "))") }
        return level
    }
}

/// The settings file as it is written; what may be left out is optional.
private struct SettingsFile: Decodable {
    struct Tls: Decodable {
        let certificate: String
        let key: String
    }

    struct Log: Decodable {
        let level: String
    }

    let listen: ListenerSettings
    let tls: Tls?
    let publicURL: String?
    let serviceURL: String?
    let pages: String?
    let log: Log?
    let serviceProvider: ServiceProviderSettings.Entry
    let mvpds: [MvpdSettings.Entry]
    let channels: [String]?
    let people: [Person.Entry]?
    let visitorPrefix: String?
    let apple: AppleSettings.Entry?
    let staff: StaffSettings.Entry?
    let upstream: VendorSettings.Entry?
    let trustPrivateNetworks: Bool?
}
