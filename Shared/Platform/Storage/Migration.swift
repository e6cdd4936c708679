/// One step of a store's schema. Steps run once, in order; a released step is never changed again.
public struct Migration: Sendable {
    /// Unique within the store, for example `1-registration-codes`; recorded in the store.
    public let name: String
    /// In the words of the engine, which may differ for a schema. Where an engine cannot change it in one transaction, each must be able to run again.
    package let statements: [String]
    /// True when the release before, which does not know the step, can go on with the store after it. The step then adds tables, indexes, or columns
    /// that may be left out.
    package let isAdditive: Bool

    /// - Parameters:
    ///   - name: Unique within the store.
    ///   - sql: Statements, with a semicolon after each but the last.
    ///   - isAdditive: True when the release before can go on with the store after the step.
    public init(_ name: String, sql: String, isAdditive: Bool = false) {
        self.init(name, statements: [sql], isAdditive: isAdditive)
    }

    /// - Parameters:
    ///   - name: Unique within the store.
    ///   - statements: Run one after another.
    ///   - isAdditive: True when the release before can go on with the store after the step.
    public init(_ name: String, statements: [String], isAdditive: Bool = false) {
        self.name = name
        self.statements = statements
        self.isAdditive = isAdditive
    }
}

extension [Migration] {
    /// Steps that a program must know to work with a store that has had these.
    package var least: Int { (lastIndex { !$0.isAdditive } ?? -1) + 1 }
}
