internal import Foundation
internal import StrictJson

/// Reads a settings file strictly.
enum SettingsReader {
    /// - Throws: `StartFailure`: one line naming the file, and the key or the place in the text.
    static func read<Specific: Decodable & Sendable>(
        _ type: Specific.Type, section: String, file: String
    ) throws(StartFailure) -> SettingsDocument<Specific> {
        let document = try parse(file)
        do throws(JsonProblem) {
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
