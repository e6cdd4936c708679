internal import Octets
internal import EntitlementClient
internal import Foundation
#if canImport(UIKit) && !os(watchOS)
internal import UIKit
#endif

/// The device and the folder of the app: the original does not take them as arguments.
enum PlatformEnvironment {
    /// Key of the app's `Info.plist`, and of its environment: the server of a `setRequestor` without service providers.
    static let serverKey = "AccessEnablerServiceProvider"

    /// Key of the same two: `v1`, the default, or `v2`.
    static let restVersionKey = "AccessEnablerRestVersion"

    /// `nil`: the app has to name one.
    static var server: URL? { setting(serverKey).flatMap { ServiceProviders.addresses([$0])?.first } }

    /// True when the app names one at all.
    static var hasServer: Bool { setting(serverKey)?.isEmpty == false }

    /// The version of the servers' API that the app wants.
    static var restVersion: RestVersion { restVersion(named: setting(restVersionKey)) }

    static func restVersion(named text: String?) -> RestVersion { text.flatMap { RestVersion(rawValue: $0.lowercased()) } ?? .v1 }

    private static func setting(_ key: String) -> String? {
        Bundle.main.object(forInfoDictionaryKey: key) as? String ?? ProcessInfo.processInfo.environment[key]
    }

    @MainActor
    static func current() -> ClientEnvironment {
        let folder = folder
        let device = DeviceDescription(platform: platform, model: model, systemVersion: systemVersion, id: deviceID(folder))
        // Every operation comes after a `setRequestor` that names servers.
        let server = server ?? URL(filePath: "/")
        var environment = ClientEnvironment(
            server: server, device: device, store: FileStore(folder: folder.appendingPathComponent("sessions", isDirectory: true)),
            bundleID: Bundle.main.bundleIdentifier ?? "")
        environment.revealsDeviceID = true
        environment.restVersion = restVersion
        #if canImport(VideoSubscriberAccount) && (os(iOS) || os(tvOS) || os(visionOS) || APPLE_STUBS)
        environment.providerAccounts = AppleProviderAccounts()
        #endif
        return environment
    }

    private static var folder: URL {
        let folders = FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask)
        return (folders.first ?? FileManager.default.temporaryDirectory).appendingPathComponent("AccessEnabler", isDirectory: true)
    }

    private static var platform: DeviceDescription.Platform {
        #if os(tvOS)
        return .tvOS
        #else
        return .iOS
        #endif
    }

    private static var systemVersion: String {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        return "\(version.majorVersion).\(version.minorVersion)"
    }

    private static var model: String {
        var facts = utsname()
        guard uname(&facts) == 0 else { return "unknown" }
        return withUnsafeBytes(of: facts.machine) { bytes in String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    }

    /// The platform's id for the vendor's apps, or one that is made at the first start.
    @MainActor
    private static func deviceID(_ folder: URL) -> String {
        #if canImport(UIKit) && !os(watchOS)
        if let id = UIDevice.current.identifierForVendor { return id.uuidString }
        #endif
        let file = folder.appendingPathComponent("device")
        if let known = try? String(contentsOf: file, encoding: .utf8), !known.isEmpty { return known }
        let made = UUID().uuidString
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try? Data(made.utf8).write(to: file, options: .atomic)
        return made
    }
}

/// Service providers as apps write them: `sp.example/adobe-services` without a scheme, a whole address, with or without a slash at its end.
enum ServiceProviders {
    private static let path = "/adobe-services"

    /// - Returns: `nil` when none is given, or one of them is no address.
    static func addresses(_ given: [Any]?) -> [URL]? {
        guard let given, !given.isEmpty else { return nil }
        let addresses = given.compactMap(address)
        return addresses.count == given.count ? addresses : nil
    }

    /// Returns why there are no addresses, for developers.
    static func problem(_ given: [Any]?) -> String {
        guard let given, !given.isEmpty else {
            return PlatformEnvironment.hasServer
                ? "\(PlatformEnvironment.serverKey) is no address of a server: it begins with https:// or http://"
                : "no server is named: pass service providers to setRequestor, or set \(PlatformEnvironment.serverKey) in Info.plist"
        }
        let wrong = given.first { address($0) == nil } ?? ""
        return "the service provider '\(wrong)' is no address of a server: it begins with https:// or http://, or with the server's name"
    }

    private static func address(_ given: Any) -> URL? {
        guard var text = (given as? String) ?? (given as? NSString)?.description ?? (given as? URL)?.absoluteString else { return nil }
        text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if !text.contains("://") { text = "https://" + text }
        while text.hasSuffix("/") { text.removeLast() }
        if text.hasSuffix(path) { text.removeLast(path.count) }
        while text.hasSuffix("/") { text.removeLast() }
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme), url.host?.isEmpty == false
        else { return nil }
        return url
    }
}
