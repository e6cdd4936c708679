internal import Cryptography
internal import Foundation
internal import Mustache

/// One HTML file that needs nothing beside itself: no other file, no network, no script for its numbers.
enum Page {
    static func render(_ content: PageContent) throws -> String {
        let (style, script) = (PageResources.styleCss, PageResources.hoverJs)
        let template = try MustacheTemplate(string: PageResources.pageMustache)
        let sections = content.sections.filter { !$0.isEmpty }
        return template.render([
            "policy": policy(style: style, script: script), "generator": "boxoffice load", "title": content.title, "heading": content.heading,
            "subtitle": content.subtitle, "verdict": content.verdict, "verdictClass": content.verdictKind.rawValue,
            "hasNotes": !content.notes.isEmpty,
            "notes": content.notes.map { ["text": $0.text, "kind": $0.isGrave ? "grave" : "note"] },
            "tiles": content.tiles.map { ["name": $0.name, "value": $0.value, "more": $0.more, "kind": $0.kind] },
            "sections": sections.enumerated().map { section($1, number: $0) }, "footer": content.footer, "style": style, "script": script,
        ])
    }

    private static func section(_ section: PageContent.Section, number: Int) -> [String: Any] {
        let figures = section.charts.enumerated().map { figure(ChartFigure($1, id: "g\(number)-\($0)")) }
        var values: [String: Any] = [
            "id": "s\(number)", "title": section.title, "hasFigures": !figures.isEmpty, "figures": figures, "tables": section.tables.map(table),
            "hasPairs": !section.pairs.isEmpty,
            "pairs": section.pairs.map { pairs in
                ["title": pairs.title, "rows": pairs.rows.map { ["name": $0.name, "value": $0.value] }] as [String: Any]
            },
        ]
        if !section.lead.isEmpty { values["lead"] = section.lead }
        if !section.code.isEmpty { values["code"] = section.code }
        return values
    }

    private static func figure(_ figure: ChartFigure) -> [String: Any] {
        var values: [String: Any] = [
            "title": figure.title, "caption": figure.caption, "drawing": figure.drawing, "placeTitle": figure.placeTitle,
            "keys": figure.keys.map { ["name": $0.name, "colour": $0.colour, "summary": $0.summary] },
            "rows": figure.rows.map { ["place": $0.place, "cells": $0.cells] as [String: Any] },
        ]
        if !figure.note.isEmpty { values["note"] = figure.note }
        return values
    }

    private static func table(_ table: PageContent.Table) -> [String: Any] {
        [
            "hasHead": !table.head.isEmpty, "head": table.head.map { ["text": $0.text, "kind": $0.kind] },
            "rows": table.rows.map { ["name": $0.name, "kind": $0.kind, "cells": $0.cells.map(cell)] as [String: Any] },
        ]
    }

    private static func cell(_ cell: PageContent.Cell) -> [String: Any] {
        var values: [String: Any] = ["text": cell.text, "kind": cell.kind]
        if let badge = cell.badge { values["badge"] = badge }
        return values
    }

    /// Nothing may be loaded, sent or framed; only these very texts are style and script (CSP level 3 §8.3).
    private static func policy(style: String, script: String) -> String {
        let hashes = [style, script].map { "'sha256-\(Base64.standard.encode(SHA256.hash($0)))'" }
        return "default-src 'none'; style-src \(hashes[0]); script-src \(hashes[1]); img-src data:; base-uri 'none'; form-action 'none'"
    }
}
