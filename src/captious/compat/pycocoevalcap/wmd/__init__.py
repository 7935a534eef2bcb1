"""The folder ``pycocoevalcap.wmd`` of the fork mtanti/coco-caption."""
