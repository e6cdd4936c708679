internal import CommandKit
package import Contracts

extension CatalogueImport {
    /// At most so many changes are printed.
    private static let most = 50

    /// What a person reads of it.
    /// - Throws: `CommandFailure` when it was refused.
    package func told(of file: String) throws -> [String] {
        switch outcome {
        case .version(let version) where isNew:
            return ["\(file) is version \(version.version)\(replaced), with \(changeCount) changes:"] + lines
        case .version(let version): return ["\(file) says what version \(version.version) says: nothing is changed"]
        case .pending(let push): return ["\(file) waits for a second person as push \(push.id), with \(changeCount) changes:"] + lines
        case .refusal(let refusal) where refusal.reason == .conflict:
            let versions = pushedVersions.map { "\($0)" }.joined(separator: ", ")
            let problem = (["\(file) is not taken in: it would undo what administrators pushed (\(versions))"] + lines).joined(separator: "\n")
            throw CommandFailure(
                problem, advice: "'boxoffice catalogue import \(file) --force' takes it in all the same; the versions can be restored")
        case .refusal(let refusal):
            let problems = refusal.problems.map { "\n  \($0.field) \($0.message)" }.joined()
            throw CommandFailure("\(file) is not taken in: \(refusal.message)\(problems)")
        case nil: throw CommandFailure("config answered without an outcome", advice: "it is of another release: restart it")
        }
    }

    private var replaced: String {
        pushedVersions.isEmpty || changes.isEmpty ? "" : ", in place of " + pushedVersions.map { "\($0)" }.joined(separator: ", ")
    }

    private var lines: [String] {
        let left = changeCount - min(changeCount, UInt64(min(changes.count, Self.most)))
        return changes.prefix(Self.most).map { "    \($0.text)" } + (left > 0 ? ["    and \(left) more"] : [])
    }
}
