internal import Foundation
internal import StrictJson
internal import Synchronization

/// The files that settings speak of; paths are relative to the settings file.
public struct SettingsFiles: Sendable, Hashable {
    /// The settings file itself, as it was given.
    public let settingsFile: String

    private let named = NamedFiles()

    public init(settingsFile: String) { self.settingsFile = settingsFile }

    /// The files and folders that have been asked for, in their order.
    var paths: [String] { named.all.withLock { $0 } }

    /// - Parameter path: As it stands in the settings.
    public func path(_ path: String) -> String {
        let base = URL(fileURLWithPath: settingsFile).deletingLastPathComponent()
        let absolute = URL(fileURLWithPath: path, relativeTo: base).standardizedFileURL.path
        named.all.withLock { if !$0.contains(absolute) { $0.append(absolute) } }
        return absolute
    }

    /// - Parameters:
    ///   - path: As it stands in the settings.
    ///   - key: Where it stands, for example `authentication.accessTokenKey`.
    /// - Throws: `StartFailure` naming settings file, key and file.
    public func bytes(_ path: String, key: String) throws(StartFailure) -> [UInt8] {
        let file = self.path(path)
        do {
            return [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        } catch {
            throw failure(key, "names the file \(file), which \(Self.reason(error)); correct the path, or the file's owner and mode")
        }
    }

    /// - Throws: As `bytes`; also when the text is not UTF-8.
    public func text(_ path: String, key: String) throws(StartFailure) -> String {
        guard let text = String(validating: try bytes(path, key: key), as: UTF8.self) else {
            throw failure(key, "names the file \(self.path(path)), which is not UTF-8 text")
        }
        return text
    }

    /// A failure at a key of the settings.
    /// - Parameter problem: Goes on from the key: `must be …`.
    public func failure(_ key: String, _ problem: String) -> StartFailure {
        StartFailure("\(settingsFile): \(key) \(problem)", isOfSettings: true)
    }

    /// The message of a failed read for people.
    static func reason(_ error: any Error) -> String {
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: "does not exist"
        case .fileReadNoPermission: "may not be read by this user"
        default: "cannot be read (\(error.localizedDescription))"
        }
    }
}

/// Files that two values have asked for do not make the values differ.
private final class NamedFiles: Sendable, Hashable {
    let all = Mutex<[String]>([])

    static func == (left: NamedFiles, right: NamedFiles) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}

/// Reads a settings file strictly.
enum SettingsReader {
    /// - Throws: `StartFailure`: one line naming the file, and the key or the place in the text.
    static func read<Specific: Decodable & Sendable>(
        _ type: Specific.Type, section: String, file: String
    ) throws(StartFailure) -> SettingsDocument<Specific> {
        let document = try parse(file)
        do throws(JsonRejection) {
            return try StrictJsonDecoder(userInfo: [.section: section]).decode(SettingsDocument<Specific>.self, from: document)
        } catch {
            throw StartFailure("\(file): \(error)")
        }
    }

    private static func parse(_ file: String) throws(StartFailure) -> JsonDocument {
        let text: [UInt8]
        do {
            text = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
        } catch {
            throw StartFailure("the settings file \(file) \(SettingsFiles.reason(error)); give another with --config")
        }
        do throws(JsonSyntaxError) {
            return try JsonDocument(parsing: text)
        } catch {
            throw StartFailure("\(file): \(error)")
        }
    }
}
