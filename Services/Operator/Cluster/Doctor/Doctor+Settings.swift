internal import CommandKit
internal import Foundation

extension Doctor {
    /// Settings, as the programs themselves judge them.
    func settings() -> [Finding] {
        guard isMade else { return [] }
        var findings: [Finding] = []
        var checked = 0
        for service in services {
            let file = home.settings(of: service)
            guard FileManager.default.fileExists(atPath: file.path) else {
                findings.append(
                    cluster == nil
                        ? .note(.settings, "\(file.path) is not there yet", advice: "./Services/up writes it")
                        : .wrong(.settings, "\(file.path) is gone; \(service.rawValue) would not start again", advice: "./Services/up writes it anew")
                )
                continue
            }
            guard let program = program(of: service) else {
                findings.append(
                    .note(.settings, "\(service.rawValue) is not built, so nobody can read its settings", advice: "./Services/up builds it"))
                continue
            }
            let complaints: [String]
            do {
                complaints = try program.complaints(of: file.path, environment: service.environment)
            } catch {
                complaints = [PlainReason.of(error)]
            }
            checked += 1
            guard !complaints.isEmpty else { continue }
            findings.append(
                .wrong(
                    .settings, complaints.joined(separator: "\n"),
                    advice: "correct \(file.path), then run ./Services/up; Services/\(service.folder)/README.md has the settings"))
        }
        return findings.isEmpty
            ? [.fine(.settings, "\(checked == 1 ? "one program accepts its" : "\(checked) programs accept their") settings in \(home.settings.path)")]
            : findings
    }

    private func program(of service: ClusterService) -> ProgramFile? {
        let folder = cluster?.program(of: service).map { URL(fileURLWithPath: $0.path).deletingLastPathComponent() } ?? binaries
        return try? ProgramFile(service, in: folder)
    }

    /// Files that settings name, beside those of the local PKI: absolute paths of files that are there.
    var namedFiles: Set<String> {
        var found: Set<String> = []
        func add(_ value: Any) {
            switch value {
            case let object as [String: Any]: object.values.forEach(add)
            case let list as [Any]: list.forEach(add)
            case let text as String where text.hasPrefix("/"):
                var isFolder: ObjCBool = false
                if FileManager.default.fileExists(atPath: text, isDirectory: &isFolder), !isFolder.boolValue { found.insert(text) }
            default: break
            }
        }
        for service in services {
            guard let content = FileManager.default.contents(atPath: home.settings(of: service).path),
                let settings = try? JSONSerialization.jsonObject(with: content)
            else { continue }
            add(settings)
        }
        return found
    }
}

extension ProgramFile {
    /// What the program says of a settings file.
    /// - Returns: Its lines; none: nothing is wrong with it.
    /// - Throws: `CommandFailure` when the program cannot be started.
    func complaints(of settings: String, environment: [String: String]) throws -> [String] {
        let check = try Subprocess.run(path, ["--config", settings, "--check-config"], environment: environment)
        guard check.status != 0 else { return [] }
        let lines = check.error.split(separator: "\n").map(String.init)
        let name = URL(fileURLWithPath: path).lastPathComponent
        return lines.isEmpty ? ["\(settings): \(name) --check-config ended with \(check.status)"] : lines
    }
}
