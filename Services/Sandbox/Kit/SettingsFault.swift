internal import FoundationEssentials
internal import StrictJson

/// The problem of a settings file or a control message, and its place.
package struct SettingsFault: Error, CustomStringConvertible, Equatable {
    /// The key's place, such as `mvpds[1].key`; empty for the whole text.
    package let key: String
    /// The problem, in words that follow the key.
    package let problem: String

    package init(key: String, problem: String) {
        self.key = key
        self.problem = problem
    }

    package var description: String { key.isEmpty ? problem : "\(key) \(problem)" }

    private init(_ problem: JsonRejection) {
        let place = problem.position.map { "(\($0)) " } ?? ""
        self.init(key: problem.path.description, problem: place + problem.message)
    }

    /// Decodes JSON in which every key must be known.
    package static func decode<Value: Decodable>(_ type: Value.Type, from json: [UInt8]) throws(SettingsFault) -> Value {
        let document: JsonDocument
        do {
            document = try JsonDocument(parsing: json)
        } catch {
            throw SettingsFault(key: "", problem: error.description)
        }
        do {
            return try StrictJsonDecoder().decode(type, from: document)
        } catch {
            throw SettingsFault(error)
        }
    }
}

/// The address of a server.
package struct ListenerSettings: Sendable, Equatable, Decodable {
    package var address: String
    /// 0 takes any free port.
    package var port: Int

    /// - Parameter key: The key under which it was written.
    package func checked(_ key: String) throws(SettingsFault) -> ListenerSettings {
        guard (0...65535).contains(port) else { throw SettingsFault(key: "\(key).port", problem: "is not from 0 to 65535") }
        return self
    }
}

/// Reads files, keys and certificates that the settings name.
package enum KeyFile {
    /// The octets of a file that a key names.
    package static func read(_ path: String, key: String) throws(SettingsFault) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else { throw SettingsFault(key: key, problem: "cannot be read: \(path)") }
        // Some editors put a mark before a text.
        return Array(data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data)
    }

    /// The certificate in a PEM file that a key names.
    package static func certificate(_ file: String, key: String) throws(SettingsFault) -> Certificate {
        let pem = try read(file, key: key)
        do {
            return try Certificate(pem: pem)
        } catch {
            throw SettingsFault(key: key, problem: "cannot be used: \(error.reason): \(file)")
        }
    }

    /// The private key in a PEM file that a key names.
    package static func signingKey(_ file: String, key: String) throws(SettingsFault) -> SandboxSigningKey {
        let pem = try read(file, key: key)
        do {
            return try SandboxSigningKey(pem: pem)
        } catch {
            throw SettingsFault(key: key, problem: "cannot be used: \(error.reason): \(file)")
        }
    }
}
